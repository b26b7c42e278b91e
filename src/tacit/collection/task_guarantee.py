"""The guarantee of a task, composed in one place.

Labels, stored reports and the models fitted from them state this guarantee, so they cannot differ.
A plan states what one report guarantees. This module adds what repeated reports of one device show
and cost. A task that is answered block by block is answered once per slot and generation, up to its
limit: its guarantee holds for all reports of a device, whatever is rated and when.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from tacit.channels.table import Channel
from tacit.collection.named_plans import plan
from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import shortest
from tacit.wire.tasks.blocks import Growth
from tacit.wire.tasks.task import Task

LINKED = "which reports of this task come from the same user"
CHANGED = "that a report changed, and when"
RATED_SINCE = "which items were newly rated between two reports"
ONE_REPORT = "in one report"
ALL_CHANNELS = "in one report through each channel"


def task_guarantee(task: Task, channels: Iterable[int] | None = None) -> Guarantee:
    """Return the guarantee per value or slot of one report to a task.

    Parameters
    ----------
    task
        The task that is answered.
    channels
        Indices of the channels that were used. All channels of the task by default.

    Returns
    -------
    Guarantee
        Epsilon of the weakest of these channels, in nats per value or slot.
    """
    used = range(len(task.channels)) if channels is None else sorted(set(channels))
    weakest = _plan(task, [task.channels[index] for index in used]).guarantee
    return _of_task(task, _in_all_generations(task, weakest))


def channel_guarantees(task: Task, channel: Channel, delta: str) -> Iterator[Guarantee]:
    """Yield the guarantees of one report through one channel: per value or slot, then per user.

    Parameters
    ----------
    task
        The task that is answered.
    channel
        The channel of the task that the device chose.
    delta
        Delta of the second guarantee per user, a decimal string.

    Yields
    ------
    Guarantee
        Epsilon in nats per value or slot; then, if the plan hides presence, in nats per user at
        delta 0 and at `delta`. The guarantees per user are for one report: each rating that changes
        later costs epsilon again. Those of a task that is answered block by block are for all
        reports of a device, up to the limit.
    """
    chosen, growth = _plan(task, channel), task.growth
    yield _of_task(task, _in_all_generations(task, chosen.guarantee))
    n_items = len(task.items) if growth is None else growth.limit * growth.generations
    for per_user in (chosen.user_guarantee(n_items), chosen.tight_guarantee(n_items, delta)):
        if per_user is not None:
            extent = ONE_REPORT if growth is None else _up_to(growth)
            yield _released(_of_task(task, per_user), extent)


def _plan(task: Task, channels: Channel | Sequence[Channel]) -> Plan:
    """Return the plan of all draws of a device, of which no two are on one slot and generation."""
    growth = task.growth
    if growth is None:
        return plan(task.plan, channels)
    return plan(f"sample:{growth.limit * growth.generations}", channels)


def _in_all_generations(task: Task, guarantee: Guarantee) -> Guarantee:
    """Return the guarantee of a slot: one draw per generation, so their epsilons add up."""
    if task.growth is None or guarantee.epsilon is None:
        return guarantee
    generations = task.growth.generations
    total = shortest(Decimal(guarantee.epsilon) * generations)
    released = guarantee.released
    if generations > 1:
        released += f" in each of {generations} generations"
    return replace(guarantee, epsilon=total, released=released)


def _up_to(growth: Growth) -> str:
    draws = f"{growth.limit:,} slots in all reports of a device"
    return f"for up to {draws}" + (f", {growth.generations} times" if growth.renewals else "")


def all_channels_guarantees(task: Task) -> Iterator[Guarantee]:
    """Yield the guarantees of a device that reported through every channel of a task.

    After its user raises the maximum epsilon, a device reports every slot again through another
    channel. The reports are independent, so their epsilons add up.

    Yields
    ------
    Guarantee
        The sums of epsilon over the channels at delta 0: in nats per slot, then per user. Nothing
        for a task with one channel, and where a device reports through one channel only: each
        rating under the plan rated, and all blocks of a task that can be extended.
    """
    if len(task.channels) == 1 or not task.hides_presence or task.growth is not None:
        return
    plans = [plan(task.plan, channel) for channel in task.channels]
    yield _sum(task, [each.guarantee for each in plans])
    yield _sum(task, [_per_user(each, len(task.items)) for each in plans])


def _per_user(plan: Plan, n_items: int) -> Guarantee:
    """Return the guarantee per user at delta 0; raises `RequestError` for a plan without one."""
    guarantee = plan.user_guarantee(n_items)
    if guarantee is None:
        raise RequestError(f"The plan {plan.name} has no guarantee per user.")
    return guarantee


def _sum(task: Task, guarantees: Sequence[Guarantee]) -> Guarantee:
    """Return the guarantee of all reports together: no privacy if one of them has no epsilon."""
    epsilons = [Decimal(one.epsilon) for one in guarantees if one.epsilon is not None]
    # A sum of some of them would understate the loss.
    total = shortest(sum(epsilons, Decimal(0))) if len(epsilons) == len(guarantees) else None
    return _released(_of_task(task, replace(guarantees[0], epsilon=total)), ALL_CHANNELS)


def _of_task(task: Task, guarantee: Guarantee) -> Guarantee:
    """Add what repeated reports of one device reveal, and what the task does not cover.

    A catalogue that was derived from ratings reveals items of users who may never report, so it is
    not covered even under the plan rated, which makes presence public.
    """
    shown = (LINKED, CHANGED, RATED_SINCE) if task.hides_presence else (LINKED, CHANGED)
    if task.growth is not None:
        shown = (LINKED,)
    public = (*guarantee.public, *shown)
    return replace(guarantee, public=public, uncovered=task.uncovered)


def _released(guarantee: Guarantee, reports: str) -> Guarantee:
    return replace(guarantee, released=f"{guarantee.released} {reports}")
