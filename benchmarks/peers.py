"""Speed and accuracy beside the peers, each measured in the same run.

    python benchmarks/peers.py [--only reports,als] [--data ratings.dat] [--json out.json]

Prints a table and the bars; exits 1 when a bar is missed or a party failed.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from bench import Bar, Bench, line
from comparisons import COMPARISONS, Request


def main() -> int:
    """Run what is asked for; the exit status."""
    asked = _parser().parse_args()
    request = Request(asked.data, asked.ml_1m, asked.seeds, asked.split)
    bench = Bench()
    try:
        for name in asked.only:
            COMPARISONS[name](bench, request)
    except KeyboardInterrupt:
        print("Interrupted; these are finished:", file=sys.stderr)
    print("\n".join(map(line, bench.rows)))
    print("\n".join(map(_verdict, bench.bars)))
    if asked.json:
        said = {
            "rows": [asdict(row) for row in bench.rows],
            "bars": [asdict(bar) | {"met": bar.met} for bar in bench.bars],
        }
        asked.json.write_text(json.dumps(said, indent=1) + "\n")
    sound = all(bar.met for bar in bench.bars) and not any(row.failed for row in bench.rows)
    return 0 if sound else 1


def _verdict(bar: Bar) -> str:
    side = "at most" if bar.at_most else "at least"
    verdict = "met   " if bar.met else "MISSED"
    return f"{verdict} {bar.what}: {bar.figure:,.4g} ({side} {bar.limit:,.4g})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", type=_names, default=list(COMPARISONS), help=", ".join(COMPARISONS)
    )
    parser.add_argument(
        "--data", metavar="PATH", help="rating file for `accuracy`, `completion` and `svdpp`"
    )
    parser.add_argument("--ml-1m", metavar="PATH", help="MovieLens 1M for `channel` and `svdpp`")
    parser.add_argument(
        "--split", metavar="PATH", help="who did what for `lists`, its column `test` the split"
    )
    parser.add_argument("--seeds", type=int, default=5, help="splits of `accuracy` and `svdpp`")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where the figures go")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in COMPARISONS]:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(COMPARISONS)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
