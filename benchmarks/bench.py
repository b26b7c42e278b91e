"""Runs a party of a comparison in a process of its own and keeps what it said."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from environments import interpreter

HERE = Path(__file__).parent
DATA = HERE / ".data"
OURS = "ours"


@dataclass(frozen=True)
class Row:
    """What one party said: `figures`, or why there are none; a party that broke `failed`."""

    comparison: str
    case: str
    party: str
    figures: dict[str, float] = field(default_factory=dict[str, float])
    skipped: str | None = None
    failed: bool = False


@dataclass(frozen=True)
class Bar:
    """A figure and what it has to reach: at least `limit`, or at most."""

    what: str
    figure: float
    limit: float
    at_most: bool = False

    @property
    def met(self) -> bool:
        """Whether it does."""
        return self.figure <= self.limit if self.at_most else self.figure >= self.limit


@dataclass
class Bench:
    """The rows and bars so far; parties run one after the other."""

    rows: list[Row] = field(default_factory=list[Row])
    bars: list[Bar] = field(default_factory=list[Bar])

    def run(
        self,
        comparison: str,
        case: str,
        party: str,
        *arguments: object,
        environment: str = "",
        judge: Callable[[], dict[str, float]] = dict[str, float],
    ) -> dict[str, float] | None:
        """The figures of `python COMPARISON.py PARTY ARGUMENTS`, peak memory with them.

        `judge` adds those that are taken of what the party wrote, by one code for all.
        """
        print(f"{comparison}, {case}: {party} ..", file=sys.stderr, flush=True)
        try:
            ours = party.startswith(OURS)
            python = sys.executable if ours else interpreter(environment or party)
            said = _run([python, HERE / f"{comparison}.py", party, *arguments], ours) | judge()
        except (subprocess.CalledProcessError, OSError) as error:
            self._keep(Row(comparison, case, party, skipped=f"failed: {error}", failed=True))
            return None
        self._keep(Row(comparison, case, party, said))
        return said

    def skip(self, comparison: str, case: str, party: str, reason: str) -> None:
        """A row that says why it has no figures."""
        self._keep(Row(comparison, case, party, skipped=reason))

    def least(self, what: str, figure: float, limit: float) -> None:
        """A bar that a figure must reach."""
        self.bars.append(Bar(what, figure, limit))

    def most(self, what: str, figure: float, limit: float) -> None:
        """A bar that a figure must not pass."""
        self.bars.append(Bar(what, figure, limit, at_most=True))

    def _keep(self, row: Row) -> None:
        self.rows.append(row)
        print(line(row), file=sys.stderr, flush=True)


def line(row: Row) -> str:
    """A row of the table."""
    said = row.skipped or "  ".join(f"{k} {v:,.4g}" for k, v in row.figures.items())
    return f"{row.comparison:9} {row.case:22} {row.party:13} {said}"


def made(what: str, held_out: str = "") -> Path:
    """The data file of a shape or of a rating file, made where it is not there yet.

    `held_out`: the column of a table that says what a published split keeps for the test.
    """
    DATA.mkdir(exist_ok=True)
    source = Path(what)
    stamp = f"-{source.stat().st_mtime_ns}" if source.exists() else ""
    out = DATA / f"{source.name}{stamp}.npz"
    if not out.exists():
        subprocess.run(
            [sys.executable, HERE / "made.py", what, out, *([held_out] if held_out else [])],
            check=True,
        )
    return out


def _run(command: list[object], ours: bool) -> dict[str, float]:
    # The parties thread on their own; where BLAS does so as well, its threads wait by spinning.
    setting = {"OPENBLAS_NUM_THREADS": "1"} | ({} if ours else {"PYTHONPATH": ""})
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, env=os.environ | setting, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, f"{command[1]} {command[2]}")
    return json.loads(said.splitlines()[-1]) | {"peak_gb": used.ru_maxrss / 2**20}
