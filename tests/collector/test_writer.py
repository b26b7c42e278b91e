"""Group commit: what came together is stored together, and nobody waits for company."""

import asyncio

from tacit.collector.ingest.writer import MOST_ROWS, WORTH_A_COMMIT, Writer
from tacit.collector.storage.store import ReportOutcome, StoredReport


class Counting:
    """A store that keeps nothing but how many rows each commit had."""

    def __init__(self):
        self.commits = []

    def insert(self, rows):
        self.commits.append(len(rows))
        return [ReportOutcome.STORED] * len(rows)

    def close(self):
        pass


def committed(*moments):
    """The rows of each commit. `moments`: for each turn of the loop, the rows of each upload."""

    async def run():
        store = Counting()
        writer = Writer(store)
        waiting = []
        for sizes in moments:
            waiting += [
                writer.put([StoredReport(b"i", 1, 1, 0, b"p", b"c")] * size) for size in sizes
            ]
            await asyncio.sleep(0)
        assert [len(found) for found in await asyncio.gather(*waiting)] == [
            size for sizes in moments for size in sizes
        ]
        await writer.close()
        assert (writer.uploads, writer.waiting) == (0, 0)
        return store.commits

    return asyncio.run(run())


def test_who_comes_alone_waits_for_nobody():
    assert committed([1]) == [1]


def test_what_comes_together_is_one_commit():
    assert committed([1] * 5, [1] * 5, [1] * 5) == [15]


def test_nothing_is_waited_for_once_a_commit_is_worth_it():
    found = committed(*[[1] * WORTH_A_COMMIT] * 50)
    assert sum(found) == 50 * WORTH_A_COMMIT
    assert all(rows % WORTH_A_COMMIT == 0 for rows in found)


def test_a_commit_has_an_end():
    found = committed([100] * 100)
    assert sum(found) == 10_000
    assert max(found) < MOST_ROWS + 100


def test_what_waits_at_the_end_is_stored():
    """However much of it, handed over or not."""

    async def run():
        store = Counting()
        writer = Writer(store)
        rows = [StoredReport(b"i", 1, 1, 0, b"p", b"c")]
        waiting = [writer.put(rows * size) for size in (MOST_ROWS, MOST_ROWS, MOST_ROWS, 1)]
        await writer.close()
        await asyncio.sleep(0)
        assert all(each.done() for each in waiting)
        return store.commits

    assert sum(asyncio.run(run())) == 3 * MOST_ROWS + 1
