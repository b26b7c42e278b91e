"""A clock that jumps deletes nothing and shuts nothing, in any direction and at any moment."""

import asyncio
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tacit.collector.ingest import retention
from tacit.collector.ingest.clock import TrustedClock, tolerance
from tacit.collector.ingest.opening import opened
from tacit.collector.ingest.validation import ReportValidator
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoredReport

DAY = 86_400
YEARS = 2 * 365 * DAY
NOW = 1_000 + 20 * DAY + 5
FIXTURE = Path(__file__).parent / "fixtures" / "version-1.db"


class Machine:
    """A machine's two clocks: what one reads is set, what the other counts passes."""

    def __init__(self, reads=NOW):
        self.reads, self.passed = reads, 77.0

    def wall(self):
        return self.reads

    def monotonic(self):
        return self.passed

    def wait(self, seconds, jump=0):
        self.passed += seconds
        self.reads += seconds + jump


def warnings(caplog):
    return [each.getMessage() for each in caplog.records if "clock" in each.getMessage()]


def filled(path, task, epochs=(18, 19, 20)):
    """A store that a collector kept until `NOW`, with a report in each of some epochs."""
    with closing(SqliteStore(path)) as store:
        number = store.hold(task.document).number
        store.set_clock(NOW)
        store.insert([StoredReport(bytes([e]) * 16, number, e, 0, b"p" * 16, b"c") for e in epochs])


def state(path):
    with closing(sqlite3.connect(path)) as database:
        epochs = [e for (e,) in database.execute("SELECT epoch FROM reports ORDER BY epoch")]
        closed = database.execute("SELECT max(closed) FROM tasks").fetchone()[0]
    return epochs, closed


def run(path, task, machine, *jumps, confirmed=False):
    """What a collector does over a day or so: it looks at the clock, some jump, it looks again.
    Gives the epochs that it took reports of in the end."""

    async def played():
        held = opened(
            path, [task], confirmed=confirmed, wall=machine.wall, monotonic=machine.monotonic
        )
        writer = Writer(held.store)
        validator = ReportValidator(task, await writer.run(lambda store: store.hold(task.document)))
        turns = []
        keeping = asyncio.create_task(
            retention.keep([validator], writer, held.clock, turns.append, every=0)
        )

        async def turned():
            """Until one turn has begun after now, and ended."""
            until = len(turns) + 3
            while len(turns) < until:
                await asyncio.sleep(0)

        await turned()
        for seconds, jump in jumps:
            machine.wait(seconds, jump)
            await turned()
        keeping.cancel()
        now = held.clock()
        await writer.close()
        return validator.epochs(now)

    return asyncio.run(played())


@pytest.mark.parametrize("jump", [YEARS, -YEARS])
def test_a_jump_before_the_start(ask, tmp_path, caplog, jump):
    task, path = ask(retention_days=30), str(tmp_path / "reports.db")
    filled(path, task)
    taken = run(path, task, Machine(NOW + jump), (3 * DAY, 0))
    assert state(path) == ([18, 19, 20], -1)
    assert taken == range(23 - 7, 25)
    assert len(warnings(caplog)) == 1
    assert "--confirm-clock" in warnings(caplog)[0]


@pytest.mark.parametrize("jump", [YEARS, -YEARS])
def test_a_jump_while_it_runs(ask, tmp_path, caplog, jump):
    task, path = ask(retention_days=30), str(tmp_path / "reports.db")
    filled(path, task)
    taken = run(path, task, Machine(), (600, jump), (2 * DAY, 0))
    assert state(path) == ([18, 19, 20], -1)
    assert taken == range(22 - 7, 24)
    assert len(warnings(caplog)) == 1


@pytest.mark.parametrize("jump", [YEARS, -YEARS])
def test_a_store_of_before_starts_from_its_newest_report(ask, tmp_path, caplog, jump):
    """A database that never kept a clock: of the reports that it had none is lost."""
    path = shutil.copy(FIXTURE, tmp_path / "reports.db")
    before = state(path)
    task = ask(epsilons=("1", "2"))
    taken = run(str(path), task, Machine(NOW - 600 + jump), (600, 0))
    assert state(path) == before
    assert taken == range(20 - 7, 22)
    assert len(warnings(caplog)) == 1


def test_the_right_clock_after_a_wrong_one_needs_nobody(ask, tmp_path, caplog):
    """While it was wrong and when it is right again reports of today are taken, and the next
    deletion is in its time."""
    task, path = ask(retention_days=30), str(tmp_path / "reports.db")
    filled(path, task)
    taken = run(path, task, Machine(), (600, YEARS), (600, -YEARS), *[(5 * DAY, 0)] * 6)
    assert taken == range(50 - 7, 52)
    assert state(path) == ([20], 19)
    assert len(warnings(caplog)) == 2
    assert [each.event for each in caplog.records if each.name.endswith(".clock")] == [
        "clock-not-trusted",
        "clock-trusted",
    ]


def test_after_confirmation_the_rule_goes_on(ask, tmp_path, caplog):
    """A collector that was off for 40 days: nothing is deleted until somebody says that it was."""
    task, path, machine = ask(retention_days=30), str(tmp_path / "reports.db"), Machine()
    filled(path, task)
    machine.wait(40 * DAY)
    run(path, task, machine)
    assert state(path) == ([18, 19, 20], -1)
    assert len(warnings(caplog)) == 1
    taken = run(path, task, machine, confirmed=True)
    assert taken == range(60 - 7, 62)
    assert state(path) == ([], 29)
    run(path, task, machine)
    assert len(warnings(caplog)) == 1


def test_a_confirmed_clock_may_be_an_earlier_one(ask, tmp_path):
    """Nothing opens again, but uploads and later deletion go by the right clock."""
    task, path = ask(retention_days=30), str(tmp_path / "reports.db")
    filled(path, task)
    run(path, task, Machine(NOW + 40 * DAY), confirmed=True)
    assert state(path) == ([], 29)
    machine = Machine(NOW + 15 * DAY)
    assert run(path, task, machine, confirmed=True) == range(30, 37)
    assert run(path, task, machine, (3 * DAY, 0)) == range(31, 40)


def test_a_wrong_clock_moves_nobody_elses(ask, tmp_path, caplog):
    """Of two collectors of one store one has a wrong clock: the other deletes what is due, and
    nothing else, and what both keep is the right time."""
    task, path = ask(retention_days=30), str(tmp_path / "reports.db")
    filled(path, task)
    with closing(SqliteStore(path)) as store:
        limit = tolerance([task])
        right, wrong = Machine(), Machine(NOW + YEARS)
        clocks = [TrustedClock(each.wall, each.monotonic, limit) for each in (right, wrong)]
        for clock in clocks:
            clock.start(store, confirmed=False)
        for _ in range(40):
            for clock in clocks:
                clock.hear(clock.keep(store, clock()))
            assert [clock.trusted for clock in clocks] == [True, False]
            assert abs(clocks[1]() - right.reads) < DAY
            assert store.clock() == right.reads
            for machine in (right, wrong):
                machine.wait(DAY / 2)
    assert len(warnings(caplog)) == 1


def test_a_clock_that_is_confirmed_elsewhere_is_heard(ask, tmp_path):
    """A collector that runs learns from the store what another one's operator confirmed."""
    path, machine = str(tmp_path / "reports.db"), Machine()
    with closing(SqliteStore(path)) as store:
        clock = TrustedClock(machine.wall, machine.monotonic, 7 * DAY)
        clock.start(store, confirmed=False)
        machine.wait(600, 30 * DAY)
        clock.hear(clock.keep(store, clock()))
        assert not clock.trusted
        store.set_clock(machine.reads)
        clock.hear(clock.keep(store, clock()))
        assert (clock(), clock.trusted) == (machine.reads, True)


@pytest.mark.parametrize(
    ("epoch_seconds", "days"), [(3600, 7), (DAY, 7), (3 * DAY, 9), (30 * DAY, 90)]
)
@pytest.mark.parametrize("side", [-1, 1])
def test_how_far_a_reading_may_be(ask, epoch_seconds, days, side):
    limit = tolerance(
        [ask(epoch_seconds=epoch_seconds, window=0), ask(epoch_seconds=30 * DAY, window=0)]
    )
    assert limit == days * DAY
    for off, trusted in ((limit, True), (limit + 1, False)):
        machine = Machine()
        clock = TrustedClock(machine.wall, machine.monotonic, limit)
        machine.wait(50, side * off)
        clock()
        assert clock.trusted is trusted


def test_the_command_confirms_a_clock_once(ask, started, tmp_path):
    """With the option what is due goes; without it the next start needs none."""
    task = ask(retention_days=30, start=int(time.time()) - 60 * DAY)
    path = str(tmp_path / "reports.db")
    with closing(SqliteStore(path)) as store:
        number = store.hold(task.document).number
        store.set_clock(int(time.time()) - 40 * DAY)
        store.insert([StoredReport(b"i" * 16, number, 20, 0, b"p" * 16, b"c")])
    started(task).stop()
    assert state(path) == ([20], -1)
    confirmed = started(task, confirm_clock=None)
    while state(path)[0]:
        assert confirmed.get("/readyz")[0] == 200
        time.sleep(0.02)
    assert state(path) == ([], 29)
    confirmed.stop()
    assert confirmed.log.read_text().count("--confirm-clock") == 1
    assert "The clock is trusted" in confirmed.log.read_text()
