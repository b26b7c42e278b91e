"""How fewer people stand for many: what is learnt from them is as uncertain as from all.

curator   A release is a sum over people plus noise of a set deviation. With n of N people and
          n / N of the noise, signal over noise is that of N. What n people differ by chance is
          more, and falls like 1 / n: two sizes give the line (`extrapolated`).
rounds    N people give r bits each, r of 128 rounds. With n people who give N r / n bits, each
          at the same epsilon, every round has as many bits.
slots     N people answer K slots each. What that tells of an item is N K / items reports, each
          worth `fisher_information`. n people who answer N K / n slots give the same reports;
          where n times all items are too few or too many, the epsilon of a slot makes up for
          it, so that all reports together tell the same.
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

MOST_REPORTS, MOST_ASKED = 1_000_000, 4000
"""Reports, and people who give them, that are simulated; beyond, fewer people say more each."""


def curator_epsilon(epsilon: str, delta: str, share: float) -> str:
    """The epsilon per person, nats, at which noise is `share` of that at `epsilon`.

    Never below the least multiplier that accounts know: one person outweighs such noise.
    """
    multiplier = max(least_multiplier(epsilon, delta) * share, 1.01 * LEAST)
    return f"{renyi_epsilon([f'{multiplier:.12g}'], delta):.6f}"


def extrapolated(
    errors: tuple[float, float], sizes: tuple[int, int], people: int, power: float
) -> float:
    """The error at `people`, of `errors` at two `sizes`, of which the second is larger.

    On the line in n^-power through both, for n people; never above the error at the larger size.
    """
    few, many, all_of_them = (n**-power for n in (*sizes, people))
    slope = max(0.0, (errors[0] - errors[1]) / (few - many))
    return errors[1] - slope * (many - all_of_them)


@dataclass(frozen=True, kw_only=True)
class AskedSlots:
    """`people` who answer for `slots` slots each, through a table of `epsilon` nats per slot.

    `share`: of what all people would tell. 1, unless even the largest epsilon is too small.
    """

    people: int
    slots: int
    channel: Channel
    share: float


@dataclass(frozen=True, kw_only=True)
class AskedRounds:
    """`people` who answer in `reports` rounds each, for `epsilon` nats together. `share`: of all
    answers of all people that these are."""

    people: int
    reports: int
    epsilon: str
    share: float


def asked_rounds(training: PGMF, epsilon: str, people: int, simulated: int) -> AskedRounds:
    """Fewer people, of the `simulated`, whose answers are as many as those of `people` at `epsilon`
    nats each, and as noisy: `training` has them in more of its rounds."""
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
    """Fewer people whose answers tell as much of each item as those of `people` under `terms`.

    `simulated`: how many people there are to ask. `density`: the share of slots that hold a rating
    that is answered for. `through`: the channel's name.
    """
    each = n_items if terms.plan == "catalogue" else int(terms.plan.removeprefix("sample:"))
    reports = people * each
    whole = people <= min(simulated, 2 * MOST_ASKED) and reports <= 2 * MOST_REPORTS
    if whole:
        return AskedSlots(
            people=people, slots=each, channel=_table(through, terms.epsilon, scale), share=1.0
        )
    fewer = min(people, simulated, MOST_ASKED)
    slots = min(n_items, max(1, round(min(reports, MOST_REPORTS) / fewer)))
    wanted = _told(through, terms.epsilon, scale, density) * reports / (fewer * slots)
    epsilon = next(
        (step for step in _steps(terms.epsilon) if _told(through, step, scale, density) >= wanted),
        STEPS[-1],
    )
    told = _told(through, epsilon, scale, density) / wanted
    return AskedSlots(
        people=fewer,
        slots=max(1, round(slots / max(1.0, told))),  # epsilons come in steps
        channel=_table(through, epsilon, scale),
        share=min(1.0, told),
    )


def _steps(least: str) -> tuple[str, ...]:
    return tuple(step for step in STEPS if Decimal(step) >= Decimal(least))


@cache
def _table(through: str, epsilon: str, scale: RatingScale) -> Channel:
    return channel(through, epsilon, scale, missing=True)


@cache
def _told(through: str, epsilon: str, scale: RatingScale, density: float) -> float:
    return fisher_information(_table(through, epsilon, scale), density=density)
