"""Every collector derives the same keys of epochs, and no later file derives an earlier one."""

import hmac
import json
import os
import shutil
from hashlib import sha256

import pytest

from tacit.collector.limits import keys as keys_module
from tacit.collector.limits.keys import EpochKeys, epoch_of
from tacit.errors import RequestError

DAY = 86_400
BEGUN = 100 * DAY + 7
TASKS = {"hour": 3600, "day": DAY, "week": 7 * DAY, "odd": 100_000}


@pytest.fixture
def tasks(ask):
    """Tasks of several lengths of epochs, none of which begins at midnight."""
    return [
        ask(name=name, epoch_seconds=seconds, window=0, start=90 * DAY + 1_000)
        for name, seconds in TASKS.items()
    ]


def epochs(tasks, now):
    return [epoch_of(task, task.epoch(now)) for task in tasks]


def content(path):
    return json.loads(path.read_bytes())


def after(state, days):
    for _ in range(days):
        state = sha256(state).digest()
    return state


def made(state, epoch):
    """The rule, in one line."""
    text = f"tacit-tokens-1\n{epoch.task.hex()}\n{epoch.number}".encode()
    return hmac.new(state, text, "sha256").digest()


def test_a_key_is_that_of_the_day_on_which_its_epoch_began(tasks, tmp_path):
    """Also of days on which nobody was there; the naive twin keeps the first state."""
    path = tmp_path / "keys"
    file, now = EpochKeys(path, BEGUN), BEGUN
    first, seen = bytes.fromhex(content(path)["state"]), 0
    for wait in (0, 3600, 10_000, DAY, 7 * DAY, 300, 20 * DAY, DAY // 2, DAY // 2):
        now += wait
        file.turn(epochs(tasks, now), now)
        for epoch in epochs(tasks, now):
            if epoch.begins >= 100 * DAY:
                assert file.key(epoch) == made(after(first, epoch.begins // DAY - 100), epoch)
                seen += 1
        assert content(path)["state"] == after(first, now // DAY - 100).hex()
    assert seen > 20


def test_a_copy_of_the_running_file_makes_the_same_keys(tasks, tmp_path):
    """However each of them wakes up, and whichever comes first."""
    first = EpochKeys(tmp_path / "one", BEGUN)
    first.turn(epochs(tasks, BEGUN), BEGUN)
    shutil.copy(tmp_path / "one", tmp_path / "two")
    second = EpochKeys(tmp_path / "two", BEGUN)
    for hour in range(1, 24 * 20):
        now = BEGUN + hour * 3600
        first.turn(epochs(tasks, now), now)
        if hour % 7 == 0:
            ahead = epochs(tasks, now + 600)
            assert [second.key(each) for each in ahead] == [first.key(each) for each in ahead]
            second.turn(epochs(tasks, now), now)
            here = epochs(tasks, now)
            assert [second.key(each) for each in here] == [first.key(each) for each in here]
    assert content(tmp_path / "one")["state"] == content(tmp_path / "two")["state"]


def test_a_later_file_leads_to_no_earlier_key(tasks, tmp_path):
    """Not by what it holds and not by any number of steps from there: once the epoch is over, and
    the day on which it began, or on which the file did."""
    path = tmp_path / "keys"
    file, old = EpochKeys(path, BEGUN), {}
    for hour in range(0, 24 * 10, 5):
        now = BEGUN + hour * 3600
        file.turn(epochs(tasks, now), now)
        held = content(path)
        found = {bytes.fromhex(key["key"]) for key in held["keys"]}
        state = bytes.fromhex(held["state"])
        for epoch, key in old.items():
            if epoch.ends <= now:
                assert key not in found
            if max(epoch.ends, (epoch.begins // DAY + 1) * DAY, 101 * DAY) <= now:
                assert key not in {made(after(state, days), epoch) for days in range(12)}
        old |= {epoch: file.key(epoch) for epoch in epochs(tasks, now)}


def test_the_file_before_is_overwritten(tasks, tmp_path):
    path = tmp_path / "keys"
    file = EpochKeys(path, BEGUN)
    with path.open("rb") as before:
        file.turn(epochs(tasks, BEGUN), BEGUN)
        assert set(before.read()) == {0}
    assert len(content(path)["keys"]) == len(TASKS)
    assert [each.name for each in tmp_path.iterdir()] == ["keys"]


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_crash_while_it_is_replaced_leaves_the_file_before(tasks, tmp_path, monkeypatch, fails):
    path = tmp_path / "keys"
    file = EpochKeys(path, BEGUN)
    before = path.read_bytes()

    def crash(*arguments):
        raise OSError("no power")

    monkeypatch.setattr(
        *((keys_module.os, "fsync") if fails == "fsync" else (type(path), "replace")), crash
    )
    with pytest.raises(OSError, match="no power"):
        file.turn(epochs(tasks, BEGUN + DAY), BEGUN + DAY)
    assert path.read_bytes() == before
    monkeypatch.undo()
    EpochKeys(path, BEGUN + DAY).turn(epochs(tasks, BEGUN + DAY), BEGUN + DAY)
    assert [each.name for each in tmp_path.iterdir()] == ["keys"]
    assert content(path)["day"] == 101


def test_a_key_is_on_disk_before_it_is_used(tasks, tmp_path):
    file = EpochKeys(tmp_path / "keys", BEGUN)
    (epoch,) = epochs(tasks[:1], BEGUN)
    key = file.key(epoch)
    assert EpochKeys(tmp_path / "keys", BEGUN).key(epoch) == key


def test_two_processes_of_one_file_lose_nothing_of_each_other(tasks, tmp_path):
    one, two = EpochKeys(tmp_path / "keys", BEGUN), EpochKeys(tmp_path / "keys", BEGUN)
    day, week = epochs(tasks[1:3], BEGUN)
    kept = one.key(day), two.key(week)
    assert (two.key(day), one.key(week)) == kept
    assert len(content(tmp_path / "keys")["keys"]) == 2


def test_nobody_else_reads_it(tmp_path):
    path = tmp_path / "keys"
    before = os.umask(0)
    try:
        EpochKeys(path, BEGUN).turn((), BEGUN + DAY)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    for mode in (0o640, 0o604, 0o660):
        path.chmod(mode)
        with pytest.raises(RequestError, match="chmod 600"):
            EpochKeys(path, BEGUN)


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held | {"state": held["state"][:-2]},
        lambda held: held | {"state": held["state"].upper()},
        lambda held: held | {"day": str(held["day"])},
        lambda held: held | {"keys": {}},
        lambda held: held | {"keys": [{"task": held["state"]}]},
        lambda held: held | {"more": 1},
        lambda held: {"format": held["format"]},
        lambda held: held["state"],
    ],
)
def test_what_is_no_such_file_is_said_without_a_word_of_it(tmp_path, change):
    path = tmp_path / "keys"
    EpochKeys(path, BEGUN)
    state = content(path)["state"]
    path.write_text(json.dumps(change(content(path))))
    with pytest.raises(RequestError, match="does not contain token keys") as refused:
        EpochKeys(path, BEGUN)
    assert state[:20].lower() not in str(refused.value).lower()


def test_a_link_leaves_no_state_behind(tmp_path):
    """What is replaced is the file, not the link to it."""
    (tmp_path / "link").symlink_to(tmp_path / "keys")
    EpochKeys(tmp_path / "link", BEGUN).turn((), BEGUN + DAY)
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "keys")["day"] == 101
