"""How far made-up people push items, undefended and with reports screened.

    python benchmarks/poisoning.py RATINGS [--runs 20] [--wide 3] [--rows OUT.jsonl]

Over RUNS draws, made-up people worth 1 % of each target's reporters: the shift of each of ten
targets, and the largest mean over draws. Over the first WIDE draws, made-up people worth 1 % of
everybody, by tenth of popularity; in the first also with the profiles of real people, and with
nothing beside the target. Draws that are in OUT already are not played again.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from followed import followed
from tacit import read
from tacit.audit.attacks.poisoning import Poisoning, Pushed
from tacit.audit.attacks.world import World

Row = dict[str, object]
EVERYBODY = 1 << 31


def plays(runs: int, wide: int) -> Iterator[tuple[int, Poisoning]]:
    """The seed and the attack of every play, short ones first where they share a seed."""
    for seed in range(runs):
        worth = ("reporters", "people") if seed < wide else ("reporters",)
        yield seed, Poisoning(worth=worth, most_people=EVERYBODY)
    for fillers in ("copied", "alone"):
        yield 0, Poisoning(worth=("people",), fillers=fillers, most_people=EVERYBODY)


def row(seed: int, attack: Poisoning, pushed: Pushed) -> Row:
    """What came of one push."""
    return {
        "seed": seed,
        "fillers": attack.fillers,
        "worth": pushed.push.worth,
        "screened": pushed.screened,
        "people": pushed.push.people.tolist(),
        "shift": pushed.shift.round(4).tolist(),
        "before": pushed.before.round(4).tolist(),
        "after": pushed.after.round(4).tolist(),
    }


def played(ratings: Path, runs: int, wide: int, rows: Path) -> list[Row]:
    """Every row, from the file where it has them."""
    known = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    done = {(each["seed"], each["fillers"], each["worth"], each["screened"]) for each in known}
    left = [
        (seed, attack)
        for seed, attack in plays(runs, wide)
        if any(
            (seed, attack.fillers, w, s) not in done for w in attack.worth for s in (False, True)
        )
    ]
    data = read(ratings)
    for seed, attack in followed("attacks", left):
        found = [
            row(seed, attack, p) for p in attack.played(World.unprotected(data, "rated", seed))
        ]
        with rows.open("a") as file:
            file.writelines(json.dumps(each) + "\n" for each in found)
        known += found
    return known


def table(rows: list[Row]) -> Iterator[str]:
    """A line a kind of attack: mean shifts, their largest or their median, and lists."""
    kinds = {(each["worth"], each["fillers"]) for each in rows}
    for worth, fillers in sorted(kinds):
        for screened in (False, True):
            key = (worth, fillers, screened)
            mine = [r for r in rows if (r["worth"], r["fillers"], r["screened"]) == key]
            shift = np.array([each["shift"] for each in mine]).mean(0)
            size = np.abs(shift)
            lists = [np.mean([each[when] for each in mine]) for when in ("before", "after")]
            how = "screened" if screened else "undefended"
            each = " ".join(f"{stars:+.3f}" for stars in shift)
            yield f"{worth}, {fillers}, {how}, {len(mine)} draws: {each}"
            yield f"    largest {size.max():.3f}, median {np.median(size):.3f}"
            yield f"    in {lists[0]:.4f} -> {lists[1]:.4f} of lists"


def main() -> None:
    """Play, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--wide", type=int, default=3)
    parser.add_argument("--rows", type=Path, default=Path("poisoning.jsonl"))
    asked = parser.parse_args()
    print("\n".join(table(played(asked.ratings, asked.runs, asked.wide, asked.rows))))


if __name__ == "__main__":
    main()
