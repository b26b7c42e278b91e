"""Claims about a store of reports: each report is stored once, and deleted reports stay deleted.

A claim opens and closes one store repeatedly, and expects the same results after that.
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
    """Functions that open one store repeatedly: its writer, which creates it, and a reader."""

    writer: Callable[[], ReportStore]
    reader: Callable[[], Reader]


Claim = Callable[[StoreOpeners], None]
STORED, DUPLICATE, CONFLICT = ReportOutcome
MANY = 2 * READ_AT_ONCE + 5


def stored_report(number: int, cells: bytes = b"\1\2", person: bytes = b"p") -> StoredReport:
    """Return a report to task 1 in epoch 5, whose id is `number`."""
    return StoredReport(number.to_bytes(16, "big"), 1, 5, 0, person * 16, cells)


def scanned(opens: StoreOpeners, task: int = 1) -> list[StoredReport]:
    """Return the reports of a task as a reader returns them, sorted by id."""
    with closing(opens.reader()) as reader:
        return sorted(report for some in reader.scan(task) for report in some)


def demand(result: object, wanted: object, what: str) -> None:
    """Raise `AssertionError` unless both are equal."""
    if result != wanted:
        raise AssertionError(f"{what} {result!r}, expected {wanted!r}.")


def keeps_the_first_report_of_an_id(opens: StoreOpeners) -> None:
    """Later reports with the id are duplicates or conflicts, in any batch and once reopened."""
    one, two, three = map(stored_report, (1, 2, 3))
    mixed = [one, three, two._replace(cells=b"x"), three, three._replace(epoch=6)]
    expected = [DUPLICATE, STORED, CONFLICT, DUPLICATE, CONFLICT]
    with closing(opens.writer()) as store:
        demand(store.insert([one, two]), [STORED] * 2, "Two new reports are")
        demand(store.insert(mixed), expected, "Known and new reports are")
    with closing(opens.writer()) as store:
        again = [one, three._replace(mech=1), two, mixed[4]]
        expected = [DUPLICATE, CONFLICT, DUPLICATE, CONFLICT]
        demand(store.insert(again), expected, "Once reopened, known reports are")
    demand(scanned(opens), [one, two, three], "A reader finds")


def says_what_became_of_each(opens: StoreOpeners) -> None:
    """Outcomes do not depend on the size and mixture of batches."""
    rng = Random(4)
    sent = [
        stored_report(rng.randrange(40), *(rng.choice((b"a", b"b")) for _ in range(2)))
        for _ in range(300)
    ]
    results: list[ReportOutcome] = []
    with closing(opens.writer()) as store:
        while len(results) < len(sent):
            results += store.insert(sent[len(results) : len(results) + rng.randint(1, 9)])
    demand(results, outcomes(sent, {}), "Batch by batch the reports are")


def takes_many_at_once(opens: StoreOpeners) -> None:
    """A batch of thousands is stored completely, whichever of them are known."""
    rows = [stored_report(number) for number in range(MANY)]
    with closing(opens.writer()) as store:
        demand(set(store.insert(rows[:3000])), {STORED}, "New reports are")
        expected = [DUPLICATE] * 3000 + [STORED] * (MANY - 3000)
        demand(store.insert(rows), expected, f"Of {MANY} reports, 3000 of them known, they are")
    demand(scanned(opens) == rows, True, "Every one is found")


def is_durable_before_it_is_closed(opens: StoreOpeners) -> None:
    """A concurrent reader returns what `insert` stored, and can continue while it writes."""
    with closing(opens.writer()) as store:
        store.insert([stored_report(number) for number in range(MANY)])
        with closing(opens.reader()) as reader:
            scan = reader.scan(1)
            first = next(scan, list[StoredReport]())
            store.insert([stored_report(number) for number in range(MANY, MANY + 100)])
            ids = {report.id for some in (first, *scan) for report in some}
    wanted = {stored_report(number).id for number in range(MANY)}
    demand(len(first) <= READ_AT_ONCE, True, f"It reads at most {READ_AT_ONCE} reports at once")
    demand(wanted <= ids, True, "Every report is found that was stored before")


def holds_a_task_once(opens: StoreOpeners) -> None:
    """A task keeps its number, the latest is first, and a closed epoch is never open again."""
    with closing(opens.writer()) as store:
        first, other = store.hold(b"one"), store.hold(b"two")
        demand((first.document, first.closed, other.closed), (b"one", -1, -1), "A new task is")
        demand(first.number != other.number, True, "Two questions have two numbers")
        store.shut(first.number, 7)
        store.shut(first.number, 3)
        closed = first._replace(closed=7)
        demand(store.hold(b"one"), closed, "Closed up to 7, then up to 3, it is")
    for tasks in _tasks(opens):
        demand(tasks, [other, closed], "Reopened it holds")


def keeps_one_question_together(opens: StoreOpeners) -> None:
    """A task with the same question as another has its number, and is closed with it."""
    with closing(opens.writer()) as store:
        first = store.hold(b"one")
        store.shut(first.number, 4)
        later = store.hold(b"one, again", [b"one", b"unknown"])
        demand(later, Held(first.number, b"one, again", 4), "A task that continues another is")
        last = store.hold(b"one, at last", [b"one, again"])
        demand(last.number, first.number, "A further continuation has the number")
        demand(store.hold(b"two", [b"unknown"]).closed, -1, "Another question is closed up to")
        store.shut(first.number, 9)
    for tasks in _tasks(opens):
        demand(tasks[0].document, b"two", "The latest is")
        closed = [held.closed for held in tasks if held.number == first.number]
        demand(closed, [9, 9, 9], "All tasks of the question are closed up to")


def _tasks(opens: StoreOpeners) -> tuple[list[Held], list[Held]]:
    """Return the tasks of a writer and of a reader."""
    with closing(opens.writer()) as store, closing(opens.reader()) as reader:
        return store.tasks(), reader.tasks()


def deletes_what_is_due(opens: StoreOpeners) -> None:
    """Deletion covers one task, epochs up to a limit, and ids that begin with a byte."""
    rows = [
        stored_report(number << 120)._replace(task=1 + number % 2, epoch=number // 2)
        for number in range(256)
    ]
    with closing(opens.writer()) as store:
        store.insert(rows)
        demand(store.forget(1, 63, 0), 1, "Of ids that begin with 0 it deletes")
        demand(store.forget(1, 63, 0), 0, "Once they are deleted it deletes")
        deleted = sum(store.forget(1, 63, byte) for byte in range(256))
        demand(deleted, 63, "Of all other ids it deletes")
    for task, due in ((1, 63), (2, -1)):
        left = [row for row in rows if row.task == task and row.epoch > due]
        demand(scanned(opens, task), left, f"Of task {task} a reader finds")


def leaves_out_who_asked_to_be_erased(opens: StoreOpeners) -> None:
    """Erased people are excluded at once, also late reports, in one task, until it is purged."""
    mine = [stored_report(number, person=b"m") for number in range(4)]
    other, elsewhere = stored_report(9), stored_report(8, person=b"m")._replace(task=2)
    with closing(opens.writer()) as store:
        store.insert([mine[0], other, elsewhere])
        store.erase(1, b"m" * 16, 20)
        store.erase(1, b"m" * 16, 18)  # requested again, with a late clock
        demand(scanned(opens), [other], "Once they are erased a reader finds")
        demand(store.insert(mine[:2]), [DUPLICATE, STORED], "Their reports are")
    demand(scanned(opens), [other], "When they report later a reader finds")
    demand(scanned(opens, 2), [elsewhere], "Of another task it finds")
    with closing(opens.writer()) as store:
        demand(store.forget(1, -1, 0), 2, "Of epochs that are not due it deletes")
        demand([store.settle(1, 19), store.erasures(1)], [0, 1], "Settled too early they are")
        demand([store.settle(1, 20), store.erasures(1)], [1, 0], "Settled in time they are")
        demand(store.insert(mine[2:]), [STORED] * 2, "Later reports are")
    demand(scanned(opens), [*mine[2:], other], "Once it is settled a reader finds")


def keeps_the_trusted_clock(opens: StoreOpeners) -> None:
    """The clock advances by at most a limit and never goes back, unless set, also once reopened."""
    with closing(opens.writer()) as store:
        demand(store.clock(), None, "A new store's clock is")
        moves = [store.keep_clock(now, 60) for now in (1 << 40, 5, (1 << 40) + 60, (1 << 40) + 121)]
        demand(moves, [1 << 40, 1 << 40, (1 << 40) + 60, (1 << 40) + 60], "Moved on it is")
    with closing(opens.writer()) as store:
        demand(store.clock(), (1 << 40) + 60, "Reopened it is")
        store.set_clock(7)
        demand([store.clock(), store.keep_clock(67, 60)], [7, 67], "Set to 7, then moved on, it is")


def names_the_newest_epoch(opens: StoreOpeners) -> None:
    """The newest epoch is that of each task with reports."""
    with closing(opens.writer()) as store:
        numbers = [store.hold(document).number for document in (b"one", b"two", b"none")]
        demand(store.newest(), [], "Before any report the newest are")
        for number, (task, epoch) in enumerate(((0, 3), (0, 8), (0, 5), (1, 2))):
            store.insert([stored_report(number)._replace(task=numbers[task], epoch=epoch)])
        demand(sorted(store.newest()), [(b"one", 8), (b"two", 2)], "The newest are")


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
"""All claims about a store of reports."""


def check_store(empty: Callable[[], StoreOpeners]) -> None:
    """Run every claim about a store; raises `AssertionError` for the first that does not hold.

    `empty()`: returns openers of a new, empty store, called once per claim.
    """
    for claim in STORE_CLAIMS:
        claim(empty())
