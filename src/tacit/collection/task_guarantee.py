"""The guarantee of a task, composed in one place.

Labels, stored reports and the models fitted from them state this guarantee, so they cannot differ.
A plan states what one report guarantees. This module adds what repeated reports of one device show
and cost.
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
from tacit.wire.task import Task

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
    weakest = plan(task.plan, [task.channels[index] for index in used]).guarantee
    return _of_task(task, weakest)


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
        later costs epsilon again.
    """
    chosen = plan(task.plan, channel)
    yield _of_task(task, chosen.guarantee)
    n_items = len(task.items)
    for per_user in (chosen.user_guarantee(n_items), chosen.tight_guarantee(n_items, delta)):
        if per_user is not None:
            yield _released(_of_task(task, per_user), ONE_REPORT)


def all_channels_guarantees(task: Task) -> Iterator[Guarantee]:
    """Yield the guarantees of a device that reported through every channel of a task.

    After its user raises the maximum epsilon, a device reports every slot again through another
    channel. The reports are independent, so their epsilons add up.

    Yields
    ------
    Guarantee
        The sums of epsilon over the channels at delta 0: in nats per slot, then per user. Nothing
        for a task with one channel, or for the plan rated, under which a device reports each
        rating through one channel only.
    """
    if len(task.channels) == 1 or not task.hides_presence:
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
    public = (*guarantee.public, *shown)
    return replace(guarantee, public=public, uncovered=task.uncovered)


def _released(guarantee: Guarantee, reports: str) -> Guarantee:
    return replace(guarantee, released=f"{guarantee.released} {reports}")
