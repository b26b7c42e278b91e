"""Result of an attack on synthetic data of a task's shape, for a label."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AttackFigure:
    """`value`: of the metric `figure`, a share from 0 to 1. `baseline`: the same without reports.
    `through`: the terms. `knows`: the attacker's background knowledge, a sentence. `setting`: its
    amount. `data`: the simulated users, a sentence that states that they are synthetic."""

    attack: str
    through: str
    knows: str
    setting: str
    figure: str
    value: float
    baseline: float
    data: str
