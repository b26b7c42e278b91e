"""Damaged files of our own formats are used or refused: no signal, no traceback, no hang.

A case that fails is replayed by its kind and number:

    echo "KIND NUMBER" | PYTHONPATH=tests/importable python tests/importable/used_files.py /tmp
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import used_files
from changed_files import KINDS

FEW, SECONDS = 12, 60


class FileUser:
    """A process that uses cases, started again after one that ends it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start()

    def start(self) -> None:
        importable = str(Path(used_files.__file__).parent)
        paths = (importable, *filter(None, [os.environ.get("PYTHONPATH")]))
        self.errors = (self.folder / "errors").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, used_files.__file__, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )

    def outcome(self, kind: str, seed: int) -> str:
        self.process.stdin.write(f"{kind} {seed}\n".encode())
        self.process.stdin.flush()
        if answer := self.process.stdout.readline():
            return json.loads(answer)
        self.close()
        self.errors.seek(0)
        errors = self.errors.read().decode(errors="replace")
        ended = f"ended by status {self.process.returncode}: {errors[-1000:]}"
        self.errors.close()
        self.start()
        return ended

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@pytest.fixture(scope="module")
def user(tmp_path_factory) -> Iterator[FileUser]:
    started = FileUser(tmp_path_factory.mktemp("cases"))
    yield started
    started.close()
    started.errors.close()


def tried(user: FileUser, kind: str, first: int, cases: float, seconds: float) -> Counter[str]:
    """Outcomes of cases from `first`; asserts that each was used or refused."""
    found, until = Counter[str](), time.monotonic() + seconds
    for seed in count(first):
        if seed >= first + cases or time.monotonic() > until:
            break
        outcome = user.outcome(kind, seed)
        assert outcome in ("used", "refused"), f"{kind} {seed}: {outcome}"
        found[outcome] += 1
    print(f"{kind}: cases {first} to {first + found.total() - 1}, {dict(found)}")
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_used_or_refused(user, kind):
    assert tried(user, kind, 0, FEW, SECONDS).keys() == {"used", "refused"}


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_a_minute_of_damaged_files(user, kind):
    assert tried(user, kind, FEW, float("inf"), SECONDS).keys() == {"used", "refused"}


@pytest.mark.long
def test_a_process_that_ends_is_noticed_and_started_again(user):
    assert user.outcome("none", 0).startswith("ended by status 1: ")
    assert user.outcome("task", 0) in ("used", "refused")


@pytest.mark.parametrize(("kind", "seed"), [("device", 3155), ("journal", 11367)])
def test_cases_that_once_ended_without_a_sentence(user, kind, seed):
    """A schema whose names are not UTF-8, and a key with a line feed."""
    assert user.outcome(kind, seed) == "refused"
