"""List thresholds of tests that have no margin: their slack over several seeds.

    python .ci/margins.py 10,11,12,13 [TESTS ..]

Runs the default tests once per seed (`TACIT_TEST_SEED`) and records the least slack of each numeric
comparison in an assertion. A comparison is listed if the mean of its slack over the seeds is below
`FEWEST` standard deviations of it, or if it failed. Four seeds take about 20 minutes on two cores.
"""

import ast
import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

FEWEST = 4.5
"""Least mean of the slack, in its standard deviations, that counts as a margin."""
FOLDER = "TACIT_MARGINS"
"""Variable of the environment: the folder for the slack that a process of pytest records."""
NAMES = {"np": np, "nan": math.nan, "inf": math.inf, "Fraction": Fraction, "__builtins__": {}}
least: dict[str, tuple[float, str]] = {}
"""Least slack of each comparison of this process, with its source."""


def slacks(explanation: str) -> Iterator[float]:
    """Yield the slack of each inequality in an assertion, as pytest explains it."""
    try:
        compared = ast.parse(explanation.split("\n")[0].strip(), mode="eval").body
        if not isinstance(compared, ast.Compare):
            return
        parts = [compared.left, *compared.comparators]
        values = [
            float(eval(compile(ast.Expression(part), "assertion", "eval"), NAMES)) for part in parts
        ]
    except (ArithmeticError, MemoryError, NameError, SyntaxError, TypeError, ValueError):
        return  # of arrays, texts or objects
    for operator, left, right in zip(compared.ops, values, values[1:], strict=False):
        if isinstance(operator, ast.Lt | ast.LtE):
            yield right - left
        elif isinstance(operator, ast.Gt | ast.GtE):
            yield left - right


def pytest_assertion_pass(item: Any, lineno: int, orig: str, expl: str) -> None:
    """Record the slack of an assertion that passed (a hook of pytest)."""
    for number, slack in enumerate(slacks(expl)):
        place = f"{item.nodeid} line {lineno} comparison {number}"
        least[place] = min(least.get(place, (math.inf, orig)), (slack, orig))


def pytest_sessionfinish() -> None:
    """Write the slack of this process (a hook of pytest)."""
    if least:
        path = Path(os.environ[FOLDER]) / f"{os.getpid()}.json"
        path.write_text(json.dumps(least))


def recorded(seed: str, tests: list[str]) -> dict[str, tuple[float, str]]:
    """Run the tests at a seed. Prints failures, and returns the slack of each comparison."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
        command += ["-p", "margins", "-o", "enable_assertion_pass_hook=true", *tests]
        environment = os.environ | {
            FOLDER: folder,
            "TACIT_TEST_SEED": seed,
            "PYTHONPATH": str(Path(__file__).parent),
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled"),  # assertions are compiled anew
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        print(f"seed {seed}: {len(failed)} failed", *failed, sep="\n", flush=True)
        known: dict[str, tuple[float, str]] = {}
        for path in Path(folder).glob("*.json"):
            known |= json.loads(path.read_text())
        return known


def main(seeds: str, *tests: str) -> None:
    """Print the comparisons without margin, the least margin first."""
    values, sources = defaultdict[str, list[float]](list), {}
    for seed in seeds.split(","):
        for place, (slack, source) in recorded(seed, list(tests)).items():
            values[place].append(slack)
            sources[place] = source
    margins = []
    for place, slack in values.items():
        deviation = np.std(slack, ddof=1) if len(slack) > 1 else 0.0
        if deviation > 0 and np.isfinite(slack).all() and min(slack) > 0:
            margins.append((np.mean(slack) / deviation, place))
    for margin, place in sorted(each for each in margins if each[0] < FEWEST):
        print(f"{margin:.1f} {place}\n    {sources[place]}\n    {np.round(values[place], 5)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
