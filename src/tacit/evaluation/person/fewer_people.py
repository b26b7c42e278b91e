"""Simulation of a large population by a smaller sample with the same estimation error.

curator   A release is a sum over users plus noise of a fixed deviation. With n of N users and
          n / N of the noise, the signal-to-noise ratio is that of N. The sampling error of n
          users is larger and decreases as 1 / n: two sizes determine the line (`extrapolated`).
rounds    N users send r bits each, in r of 128 rounds. With n users who send N r / n bits, each
          at the same epsilon, every round has the same number of bits.
slots     N users report on K slots each: N K / items reports per item, each with the
          information `fisher_information`. n users with N K / n slots send as many reports. If
          n times the number of items is too small or too large for that, the epsilon per slot
          is adjusted to give all reports together the same information.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from tacit.channels import fisher_information
from tacit.channels.table import Channel
from tacit.evaluation.comparison.tools import channel
from tacit.evaluation.person.slots import STEPS, SlotTerms
from tacit.scale import RatingScale
from tacit.training import PGMF
from tacit.training.mechanism.accounting import LEAST, least_multiplier, renyi_epsilon

MOST_REPORTS, MOST_PEOPLE = 1_000_000, 4000
"""Limits on simulated reports and users. Above them, fewer users send more informative reports."""


def curator_epsilon(epsilon: str, delta: str, share: float) -> str:
    """Return the epsilon per user, in nats, at which the noise is `share` times that at `epsilon`.

    The noise multiplier is at least the smallest one that the accounting supports, at which one
    user's contribution already exceeds the noise.
    """
    multiplier = max(least_multiplier(epsilon, delta) * share, 1.01 * LEAST)
    return f"{renyi_epsilon([f'{multiplier:.12g}'], delta):.6f}"


def extrapolated(
    errors: tuple[float, float], sizes: tuple[int, int], people: int, power: float
) -> float:
    """Extrapolate the error to `people` users from `errors` at two `sizes`, the second larger.

    Linear in n^-power for n users. At most the error at the larger size.
    """
    few, many, all_of_them = (n**-power for n in (*sizes, people))
    slope = max(0.0, (errors[0] - errors[1]) / (few - many))
    return errors[1] - slope * (many - all_of_them)


@dataclass(frozen=True, kw_only=True)
class AskedSlots:
    """Simulated reports of `people` users on `slots` slots each, through `channel`.

    `share`: of the information in the reports of all users. 1, unless even the largest epsilon is
    too small.
    """

    people: int
    slots: int
    channel: Channel
    share: float


@dataclass(frozen=True, kw_only=True)
class AskedRounds:
    """Simulated reports of `people` users in `reports` rounds each, for `epsilon` nats per user.
    `share`: of the number of reports of all users."""

    people: int
    reports: int
    epsilon: str
    share: float


def asked_rounds(training: PGMF, epsilon: str, people: int, simulated: int) -> AskedRounds:
    """Return a sample of the `simulated` users with as many reports as `people` users at `epsilon`
    nats each, and the same noise per report: each user takes part in more rounds of `training`."""
    reports, each = training.budget(epsilon)
    more = reports
    while more < training.rounds and people * reports > simulated * more:
        more = next(n for n in range(more + 1, training.rounds + 1) if training.rounds % n == 0)
    wanted = round(people * reports / more)
    return AskedRounds(
        people=min(wanted, simulated),
        reports=more,
        epsilon=epsilon if more == reports else f"{Decimal(each) * more:.12f}",
        share=min(1.0, simulated / wanted),
    )


def asked_slots(
    terms: SlotTerms,
    through: str,
    people: int,
    simulated: int,
    n_items: int,
    density: float,
    scale: RatingScale,
) -> AskedSlots:
    """Return a sample whose reports have as much information per item as those of `people` users
    under `terms`.

    `simulated`: number of available users. `density`: share of slots with a reported rating.
    `through`: name of the channel.
    """
    each = n_items if terms.plan == "catalogue" else int(terms.plan.removeprefix("sample:"))
    reports = people * each
    simulate_all = people <= min(simulated, 2 * MOST_PEOPLE) and reports <= 2 * MOST_REPORTS
    if simulate_all:
        return AskedSlots(
            people=people, slots=each, channel=_table(through, terms.epsilon, scale), share=1.0
        )
    fewer = min(people, simulated, MOST_PEOPLE)
    slots = min(n_items, max(1, round(min(reports, MOST_REPORTS) / fewer)))
    wanted = _information(through, terms.epsilon, scale, density) * reports / (fewer * slots)
    epsilon = next(
        (
            step
            for step in _steps(terms.epsilon)
            if _information(through, step, scale, density) >= wanted
        ),
        STEPS[-1],
    )
    ratio = _information(through, epsilon, scale, density) / wanted
    return AskedSlots(
        people=fewer,
        slots=max(1, round(slots / max(1.0, ratio))),  # corrects for the grid of epsilons
        channel=_table(through, epsilon, scale),
        share=min(1.0, ratio),
    )


def _steps(least: str) -> tuple[str, ...]:
    return tuple(step for step in STEPS if Decimal(step) >= Decimal(least))


@cache
def _table(through: str, epsilon: str, scale: RatingScale) -> Channel:
    return channel(through, epsilon, scale, missing=True)


@cache
def _information(through: str, epsilon: str, scale: RatingScale, density: float) -> float:
    return fisher_information(_table(through, epsilon, scale), density=density)
