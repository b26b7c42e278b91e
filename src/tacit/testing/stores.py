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
        raise AssertionError(f"{what}: got {result!r}, expected {wanted!r}.")


def keeps_the_first_report_of_an_id(opens: StoreOpeners) -> None:
    """Later reports with the id are duplicates or conflicts, in any batch and once reopened."""
    one, two, three = map(stored_report, (1, 2, 3))
    mixed = [one, three, two._replace(cells=b"x"), three, three._replace(epoch=6)]
    expected = [DUPLICATE, STORED, CONFLICT, DUPLICATE, CONFLICT]
    with closing(opens.writer()) as store:
        demand(store.insert([one, two]), [STORED] * 2, "Outcomes of two new reports")
        demand(store.insert(mixed), expected, "Outcomes of duplicate and new reports")
    with closing(opens.writer()) as store:
        again = [one, three._replace(mech=1), two, mixed[4]]
        expected = [DUPLICATE, CONFLICT, DUPLICATE, CONFLICT]
        demand(store.insert(again), expected, "Outcomes of duplicates after reopening the store")
    demand(scanned(opens), [one, two, three], "Reports that a reader finds")


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
    demand(results, outcomes(sent, {}), "Outcomes of reports in batches")


def takes_many_at_once(opens: StoreOpeners) -> None:
    """A batch of thousands is stored completely, whichever of them are known."""
    rows = [stored_report(number) for number in range(MANY)]
    with closing(opens.writer()) as store:
        demand(set(store.insert(rows[:3000])), {STORED}, "Outcomes of new reports")
        expected = [DUPLICATE] * 3000 + [STORED] * (MANY - 3000)
        demand(
            store.insert(rows),
            expected,
            f"Outcomes of {MANY} reports, of which 3000 are duplicates",
        )
    demand(scanned(opens) == rows, True, "A scan finds every report")


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
    demand(len(first) <= READ_AT_ONCE, True, f"A scan reads at most {READ_AT_ONCE} reports at once")
    demand(wanted <= ids, True, "A scan finds every report stored before it began")


def holds_a_task_once(opens: StoreOpeners) -> None:
    """A task keeps its number, the latest is first, and a closed epoch is never open again."""
    with closing(opens.writer()) as store:
        first, other = store.hold(b"one"), store.hold(b"two")
        demand(
            (first.document, first.closed, other.closed), (b"one", -1, -1), "State of a new task"
        )
        demand(first.number != other.number, True, "Different tasks have different numbers")
        store.shut(first.number, 7)
        store.shut(first.number, 3)
        closed = first._replace(closed=7)
        demand(
            store.hold(b"one"),
            closed,
            "State of a task closed through epoch 7, then through epoch 3",
        )
    for tasks in _tasks(opens):
        demand(tasks, [other, closed], "Tasks after reopening the store")


def keeps_one_question_together(opens: StoreOpeners) -> None:
    """A task with the same question as another has its number, and is closed with it."""
    with closing(opens.writer()) as store:
        first = store.hold(b"one")
        store.shut(first.number, 4)
        later = store.hold(b"one, again", [b"one", b"unknown"])
        demand(later, Held(first.number, b"one, again", 4), "State of a task that succeeds another")
        last = store.hold(b"one, at last", [b"one, again"])
        demand(last.number, first.number, "Number of the third task in a succession")
        demand(
            store.hold(b"two", [b"unknown"]).closed, -1, "Last closed epoch of an unrelated task"
        )
        store.shut(first.number, 9)
    for tasks in _tasks(opens):
        demand(tasks[0].document, b"two", "Newest task")
        closed = [held.closed for held in tasks if held.number == first.number]
        demand(closed, [9, 9, 9], "Last closed epochs of a task and its successors")


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
        demand(store.forget(1, 63, 0), 1, "Number of deleted reports whose ids begin with 0")
        demand(store.forget(1, 63, 0), 0, "Number of deleted reports in a second call")
        deleted = sum(store.forget(1, 63, byte) for byte in range(256))
        demand(deleted, 63, "Number of deleted reports with all other ids")
    for task, due in ((1, 63), (2, -1)):
        left = [row for row in rows if row.task == task and row.epoch > due]
        demand(scanned(opens, task), left, f"Reports of task {task} that a reader finds")


def leaves_out_who_asked_to_be_erased(opens: StoreOpeners) -> None:
    """Erased people are excluded at once, also late reports, in one task, until it is purged."""
    mine = [stored_report(number, person=b"m") for number in range(4)]
    other, elsewhere = stored_report(9), stored_report(8, person=b"m")._replace(task=2)
    with closing(opens.writer()) as store:
        store.insert([mine[0], other, elsewhere])
        store.erase(1, b"m" * 16, 20)
        store.erase(1, b"m" * 16, 18)  # requested again, with a late clock
        demand(scanned(opens), [other], "Reports that a reader finds after an erasure")
        demand(
            store.insert(mine[:2]),
            [DUPLICATE, STORED],
            "Outcomes of later reports of the erased user",
        )
    demand(
        scanned(opens),
        [other],
        "Reports that a reader finds after a later report of the erased user",
    )
    demand(scanned(opens, 2), [elsewhere], "Reports of another task")
    with closing(opens.writer()) as store:
        demand(store.forget(1, -1, 0), 2, "Number of deleted reports in epochs that are not due")
        demand(
            [store.settle(1, 19), store.erasures(1)],
            [0, 1],
            "Numbers of purged and pending erasures before the purge is due",
        )
        demand(
            [store.settle(1, 20), store.erasures(1)],
            [1, 0],
            "Numbers of purged and pending erasures once the purge is due",
        )
        demand(
            store.insert(mine[2:]), [STORED] * 2, "Outcomes of reports after the erasure is purged"
        )
    demand(
        scanned(opens),
        [*mine[2:], other],
        "Reports that a reader finds after the erasure is purged",
    )


def keeps_the_trusted_clock(opens: StoreOpeners) -> None:
    """The clock advances by at most a limit and never goes back, unless set, also once reopened."""
    with closing(opens.writer()) as store:
        demand(store.clock(), None, "Clock of a new store")
        moves = [store.keep_clock(now, 60) for now in (1 << 40, 5, (1 << 40) + 60, (1 << 40) + 121)]
        demand(
            moves,
            [1 << 40, 1 << 40, (1 << 40) + 60, (1 << 40) + 60],
            "Clock after each of four advances",
        )
    with closing(opens.writer()) as store:
        demand(store.clock(), (1 << 40) + 60, "Clock after the store is reopened")
        store.set_clock(7)
        demand(
            [store.clock(), store.keep_clock(67, 60)],
            [7, 67],
            "Clock after it is set to 7 and advanced",
        )


def names_the_newest_epoch(opens: StoreOpeners) -> None:
    """The newest epoch is that of each task with reports."""
    with closing(opens.writer()) as store:
        numbers = [store.hold(document).number for document in (b"one", b"two", b"none")]
        demand(store.newest(), [], "Newest epochs before any report")
        for number, (task, epoch) in enumerate(((0, 3), (0, 8), (0, 5), (1, 2))):
            store.insert([stored_report(number)._replace(task=numbers[task], epoch=epoch)])
        demand(sorted(store.newest()), [(b"one", 8), (b"two", 2)], "Newest epochs")


def accepts_a_probe(opens: StoreOpeners) -> None:
    """A probe of a store that works succeeds, and changes neither reports nor the clock."""
    with closing(opens.writer()) as store:
        store.probe()
        store.set_clock(7)
        store.insert([stored_report(1)])
        store.probe()
        demand(store.clock(), 7, "Clock after a probe")
    demand(scanned(opens), [stored_report(1)], "Reports after a probe")


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
    accepts_a_probe,
)
"""All claims about a store of reports."""


def check_store(empty: Callable[[], StoreOpeners]) -> None:
    """Run every claim about a store; raises `AssertionError` for the first that does not hold.

    `empty()`: returns openers of a new, empty store, called once per claim.
    """
    for claim in STORE_CLAIMS:
        claim(empty())
