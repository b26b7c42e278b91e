"""Claims about an attack: stated assumptions, reproducible findings, no false positives."""

import math
import re
from collections.abc import Callable
from functools import cache

import polars as pl

from tacit.audit.attacks.protocol import NEEDS, AbstractAttack, Finding
from tacit.audit.attacks.world import World
from tacit.channels import compile_channel
from tacit.collection import named_plans
from tacit.ratings import Ratings
from tacit.readers.synthetic import synthetic

Claim = Callable[[AbstractAttack], None]
PLANS = ("rated", "catalogue", "sample:40")


@cache
def made_up() -> tuple[Ratings, pl.DataFrame]:
    """Return synthetic ratings, and a table of the users with a column of two values."""
    ratings = synthetic(n_users=80, n_items=60, n_ratings=2400, rng=4)
    names = ["even" if code % 2 == 0 else "odd" for code in range(80)]
    return ratings, pl.DataFrame({"user": ratings.user_ids.ids, "kind": names})


def worlds(seed: int = 0) -> list[World]:
    """Return the scenarios of the synthetic users: each plan at epsilon 1, and no privacy."""
    ratings, people = made_up()
    scenarios = [World.unprotected(ratings, "rated", seed, people)]
    for name in PLANS:
        missing = named_plans.protects_presence(name)
        channel = compile_channel(
            "randomized-response", epsilon="1", scale=ratings.scale, missing=missing
        )
        scenarios.append(World.through(ratings, named_plans.plan(name, channel), seed, people))
    return scenarios


@cache
def played(attack: AbstractAttack) -> list[tuple[World, list[Finding]]]:
    """Return `replayed`, cached."""
    return replayed(attack)


def replayed(attack: AbstractAttack) -> list[tuple[World, list[Finding]]]:
    """Return the attack's findings in each applicable scenario."""
    chosen = worlds()
    if attack.needs == "ratings":
        chosen = chosen[:1]
    elif attack.needs == "channel":
        chosen = chosen[1:]
    return [(world, attack.run(world)) for world in chosen]


def says_what_it_knows(attack: AbstractAttack) -> None:
    """The attack states its assumptions about the attacker and names its baseline."""
    sentence = re.fullmatch(r"The attacker .{30,}\.", attack.knows, re.DOTALL)
    if not sentence or not attack.baseline or attack.needs not in NEEDS:
        raise AssertionError(
            "`knows` must be a sentence about the attacker and `baseline` a name, got "
            f"'{attack.knows}' and '{attack.baseline}'."
        )


def finds_shares(attack: AbstractAttack) -> None:
    """All values, baselines and bounds are from 0 to 1, or within the scale for stars."""
    for world, findings in played(attack):
        if not findings:
            raise AssertionError(f"The attack has no findings under the plan {world.plan}.")
        if len({(finding.setting, finding.figure) for finding in findings}) < len(findings):
            raise AssertionError(
                f"Two findings under the plan {world.plan} have the same setting and figure."
            )
        for finding in findings:
            bound = 0.0 if finding.bound is None else finding.bound
            figures = (finding.value, finding.baseline, bound)
            values = world.ratings.scale.values
            most = values[-1] - values[0] if finding.figure.endswith("stars") else 1
            least = -most if finding.figure.endswith("stars") else 0
            if not all(least <= figure <= most for figure in figures) or finding.count < 1:
                raise AssertionError(
                    f"{finding} has a value, baseline or bound outside its range, or a count below "
                    "1."
                )
            if not 0 <= finding.error <= 1 or math.isnan(finding.error):
                raise AssertionError(f"{finding} has no valid standard error.")


def repeats_itself(attack: AbstractAttack) -> None:
    """The same scenario gives the same findings."""
    first = [findings for _, findings in played(attack)]
    if first != [findings for _, findings in replayed(attack)]:
        raise AssertionError("A second run with the same seed returns different findings.")


def accuses_nobody(attack: AbstractAttack) -> None:
    """Reports of a correct channel do not exceed the bounds of the attack."""
    leaks = [finding for _, findings in played(attack) for finding in findings if finding.leaks]
    if leaks:
        raise AssertionError(
            f"The attack reports a leak although the channel is correct: {leaks[0]}."
        )


ATTACK_CLAIMS: tuple[Claim, ...] = (
    says_what_it_knows,
    finds_shares,
    repeats_itself,
    accuses_nobody,
)
"""All claims about an attack."""


def check_attack(attack: AbstractAttack) -> None:
    """Run every claim about an attack; raises `AssertionError` for the first that fails."""
    for claim in ATTACK_CLAIMS:
        claim(attack)
