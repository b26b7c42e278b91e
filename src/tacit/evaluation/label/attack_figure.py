"""What an attacker found on made-up data of a task's shape, as a label has it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AttackFigure:
    """`value`: of `figure`, a share from 0 to 1, and `baseline`: the same without the reports.
    `through`: which terms; `knows`: what the attacker knew, a sentence; `setting`: how much of it;
    `data`: what people the figure is of, a sentence that says that they are made up."""

    attack: str
    through: str
    knows: str
    setting: str
    figure: str
    value: float
    baseline: float
    data: str
