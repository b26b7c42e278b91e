"""What a store of reports has to hold: each report once, nothing that was deleted, all the rest.

A claim opens and closes one store as often as it likes: what it says is said again after that.
"""

from collections.abc import Callable
from contextlib import closing
from random import Random
from typing import NamedTuple

from tacit.collector.storage.store import (
    READ_AT_ONCE,
    Held,
    Reader,
    ReportOutcome,
    ReportStore,
    StoredReport,
    outcomes,
)


class StoreOpeners(NamedTuple):
    """What opens one store, again and again: its writer, which makes it first, and a reader."""

    writer: Callable[[], ReportStore]
    reader: Callable[[], Reader]


Claim = Callable[[StoreOpeners], None]
STORED, DUPLICATE, CONFLICT = ReportOutcome
MANY = 2 * READ_AT_ONCE + 5


def stored_report(number: int, cells: bytes = b"\1\2", person: bytes = b"p") -> StoredReport:
    """A report to task 1 in epoch 5, whose id is that number."""
    return StoredReport(number.to_bytes(16, "big"), 1, 5, 0, person * 16, cells)


def scanned(opens: StoreOpeners, task: int = 1) -> list[StoredReport]:
    """What a reader finds of a task, by id."""
    with closing(opens.reader()) as reader:
        return sorted(report for some in reader.scan(task) for report in some)


def demand(found: object, wanted: object, what: str) -> None:
    """Raise `AssertionError` unless both are equal."""
    if found != wanted:
        raise AssertionError(f"{what}: got {found!r}, expected {wanted!r}.")


def keeps_the_first_report_of_an_id(opens: StoreOpeners) -> None:
    """Another one is a duplicate or a conflict, in one batch, in another, and once reopened."""
    one, two, three = map(stored_report, (1, 2, 3))
    mixed = [one, three, two._replace(cells=b"x"), three, three._replace(epoch=6)]
    told = [DUPLICATE, STORED, CONFLICT, DUPLICATE, CONFLICT]
    with closing(opens.writer()) as store:
        demand(store.insert([one, two]), [STORED] * 2, "Outcomes of two new reports")
        demand(store.insert(mixed), told, "Outcomes of known and new reports")
    with closing(opens.writer()) as store:
        again = [one, three._replace(mech=1), two, mixed[4]]
        told = [DUPLICATE, CONFLICT, DUPLICATE, CONFLICT]
        demand(store.insert(again), told, "Outcomes of known reports after reopening the store")
    demand(scanned(opens), [one, two, three], "Reports that a reader finds")


def says_what_became_of_each(opens: StoreOpeners) -> None:
    """In batches of any size and mixture: as one list of them all would say it."""
    chance = Random(4)
    sent = [
        stored_report(chance.randrange(40), *(chance.choice((b"a", b"b")) for _ in range(2)))
        for _ in range(300)
    ]
    found: list[ReportOutcome] = []
    with closing(opens.writer()) as store:
        while len(found) < len(sent):
            found += store.insert(sent[len(found) : len(found) + chance.randint(1, 9)])
    demand(found, outcomes(sent, {}), "Outcomes of reports in batches")


def takes_many_at_once(opens: StoreOpeners) -> None:
    """A batch of thousands is stored whole, whatever of it was known."""
    rows = [stored_report(number) for number in range(MANY)]
    with closing(opens.writer()) as store:
        demand(set(store.insert(rows[:3000])), {STORED}, "Outcomes of new reports")
        told = [DUPLICATE] * 3000 + [STORED] * (MANY - 3000)
        demand(store.insert(rows), told, f"Outcomes of {MANY} reports, of which 3000 are known")
    demand(scanned(opens) == rows, True, "A scan finds every report")


def is_durable_before_it_is_closed(opens: StoreOpeners) -> None:
    """A reader beside the writer sees what `insert` gave back, and may go on while it writes."""
    with closing(opens.writer()) as store:
        store.insert([stored_report(number) for number in range(MANY)])
        with closing(opens.reader()) as reader:
            scan = reader.scan(1)
            first = next(scan, list[StoredReport]())
            store.insert([stored_report(number) for number in range(MANY, MANY + 100)])
            ids = {report.id for some in (first, *scan) for report in some}
    wanted = {stored_report(number).id for number in range(MANY)}
    demand(len(first) <= READ_AT_ONCE, True, f"A scan reads at most {READ_AT_ONCE} reports at once")
    demand(wanted <= ids, True, "A scan finds every report stored before it began")


def holds_a_task_once(opens: StoreOpeners) -> None:
    """A task keeps its number, the latest comes first, and a closed epoch is never open again."""
    with closing(opens.writer()) as store:
        first, other = store.hold(b"one"), store.hold(b"two")
        demand((first.document, first.closed, other.closed), (b"one", -1, -1), "A new task")
        demand(first.number != other.number, True, "Two questions have different numbers")
        store.shut(first.number, 7)
        store.shut(first.number, 3)
        closed = first._replace(closed=7)
        demand(store.hold(b"one"), closed, "A task closed up to 7, then up to 3")
    for tasks in _tasks(opens):
        demand(tasks, [other, closed], "Tasks after reopening the store")


def keeps_one_question_together(opens: StoreOpeners) -> None:
    """A task that asks what another one did has its number, and is closed with it."""
    with closing(opens.writer()) as store:
        first = store.hold(b"one")
        store.shut(first.number, 4)
        later = store.hold(b"one, again", [b"one", b"unknown"])
        demand(later, Held(first.number, b"one, again", 4), "A task that continues another")
        last = store.hold(b"one, at last", [b"one, again"])
        demand(last.number, first.number, "Number of a task that continues a continued task")
        demand(store.hold(b"two", [b"unknown"]).closed, -1, "Last closed epoch of another question")
        store.shut(first.number, 9)
    for tasks in _tasks(opens):
        demand(tasks[0].document, b"two", "Newest task")
        closed = [held.closed for held in tasks if held.number == first.number]
        demand(closed, [9, 9, 9], "Last closed epochs of all tasks of the question")


def _tasks(opens: StoreOpeners) -> tuple[list[Held], list[Held]]:
    """What a writer and a reader say of the tasks."""
    with closing(opens.writer()) as store, closing(opens.reader()) as reader:
        return store.tasks(), reader.tasks()


def deletes_what_is_due(opens: StoreOpeners) -> None:
    """Reports of one task, of epochs up to one, whose ids begin with a byte, and no other."""
    rows = [
        stored_report(number << 120)._replace(task=1 + number % 2, epoch=number // 2)
        for number in range(256)
    ]
    with closing(opens.writer()) as store:
        store.insert(rows)
        demand(store.forget(1, 63, 0), 1, "Number of deleted reports whose ids begin with 0")
        demand(store.forget(1, 63, 0), 0, "Number of deleted reports in a second call")
        deleted = sum(store.forget(1, 63, byte) for byte in range(256))
        demand(deleted, 63, "Number of deleted reports with all other ids")
    for task, due in ((1, 63), (2, -1)):
        left = [row for row in rows if row.task == task and row.epoch > due]
        demand(scanned(opens, task), left, f"Reports of task {task} that a reader finds")


def leaves_out_who_asked_to_be_erased(opens: StoreOpeners) -> None:
    """At once and when they report late, in one task alone, until that is settled."""
    mine = [stored_report(number, person=b"m") for number in range(4)]
    other, elsewhere = stored_report(9), stored_report(8, person=b"m")._replace(task=2)
    with closing(opens.writer()) as store:
        store.insert([mine[0], other, elsewhere])
        store.erase(1, b"m" * 16, 20)
        store.erase(1, b"m" * 16, 18)  # asked for again, by a clock that was behind
        demand(scanned(opens), [other], "Reports that a reader finds after an erasure")
        demand(store.insert(mine[:2]), [DUPLICATE, STORED], "Outcomes of their reports")
    demand(
        scanned(opens),
        [other],
        "Reports that a reader finds after a later report of the erased user",
    )
    demand(scanned(opens, 2), [elsewhere], "Reports of another task")
    with closing(opens.writer()) as store:
        demand(store.forget(1, -1, 0), 2, "Number of deleted reports in epochs that are not due")
        demand([store.settle(1, 19), store.erasures(1)], [0, 1], "Erasures purged too early")
        demand([store.settle(1, 20), store.erasures(1)], [1, 0], "Erasures purged in time")
        demand(store.insert(mine[2:]), [STORED] * 2, "Outcomes of later reports")
    demand(
        scanned(opens),
        [*mine[2:], other],
        "Reports that a reader finds after the erasure is purged",
    )


def keeps_the_trusted_clock(opens: StoreOpeners) -> None:
    """It goes on by no more than a limit and never back, unless it is set, also once reopened."""
    with closing(opens.writer()) as store:
        demand(store.clock(), None, "Clock of a new store")
        moves = [store.keep_clock(now, 60) for now in (1 << 40, 5, (1 << 40) + 60, (1 << 40) + 121)]
        demand(
            moves, [1 << 40, 1 << 40, (1 << 40) + 60, (1 << 40) + 60], "The clock after advances"
        )
    with closing(opens.writer()) as store:
        demand(store.clock(), (1 << 40) + 60, "The clock after reopening the store")
        store.set_clock(7)
        demand(
            [store.clock(), store.keep_clock(67, 60)], [7, 67], "The clock set to 7, then advanced"
        )


def names_the_newest_epoch(opens: StoreOpeners) -> None:
    """The newest of each task that has reports."""
    with closing(opens.writer()) as store:
        numbers = [store.hold(document).number for document in (b"one", b"two", b"none")]
        demand(store.newest(), [], "Newest epochs before any report")
        for number, (task, epoch) in enumerate(((0, 3), (0, 8), (0, 5), (1, 2))):
            store.insert([stored_report(number)._replace(task=numbers[task], epoch=epoch)])
        demand(sorted(store.newest()), [(b"one", 8), (b"two", 2)], "Newest epochs")


STORE_CLAIMS: tuple[Claim, ...] = (
    keeps_the_first_report_of_an_id,
    says_what_became_of_each,
    takes_many_at_once,
    is_durable_before_it_is_closed,
    holds_a_task_once,
    keeps_one_question_together,
    deletes_what_is_due,
    leaves_out_who_asked_to_be_erased,
    keeps_the_trusted_clock,
    names_the_newest_epoch,
)
"""Every claim about a store of reports."""


def check_store(empty: Callable[[], StoreOpeners]) -> None:
    """Run every claim about a store; raises `AssertionError` for the first that does not hold.

    `empty()`: what opens a new, empty store, for each claim one.
    """
    for claim in STORE_CLAIMS:
        claim(empty())
