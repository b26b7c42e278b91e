"""Incremental refit of nx-map: CPU seconds after 2 % of the items changed, against a fit anew.

    python benchmarks/map_refit.py [SOURCE TARGET] [--share 0.02] [--rounds 5]

Without files, synthetic ratings. New users rate a share of the items of both domains, so that only
these change. The maps of both fits are compared to the last digit. One thread, after compilation.
"""

import argparse
import os

os.environ["NUMBA_NUM_THREADS"] = "1"

import numpy as np
import polars as pl

from measure import Clock
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.x_map.item_map import ItemMap
from tacit.crossdomain.x_map.refit import Memory
from tacit.crossdomain.x_map.x_map import XMap
from tacit.engines.engine import Local
from tacit.readers import from_frame, read, synthetic

COLUMNS = ("user", "item", "rating")
NEW_USERS = 20


def parts(paths: list[str], users: int) -> list[pl.DataFrame]:
    """Return the ratings of both domains."""
    if paths:
        return [read(path, scale="1:5:1").to_polars().select(COLUMNS) for path in paths]
    each = min(200, users // 4)
    made = (synthetic(users, users * 3 // 4, each * users, rng=n, fewest=1) for n in (0, 1))
    return [ratings.to_polars().select(COLUMNS) for ratings in made]


def joined(frames: list[pl.DataFrame]) -> Domains:
    named = zip(frames, ("source", "target"), strict=True)
    return Domains.join([from_frame(frame, scale="1:5:1", name=name) for frame, name in named])


def changed(frame: pl.DataFrame, share: float, chance: np.random.Generator) -> pl.DataFrame:
    """Add new users who rate a share of the items."""
    items = frame["item"].unique().sort().to_numpy()
    few = chance.choice(items, max(2, round(share * len(items))), replace=False)
    rows = [
        (10**8 + user, int(item), int(chance.integers(1, 6)))
        for user in range(NEW_USERS)
        for item in chance.choice(few, max(2, len(few) // 3), replace=False)
    ]
    added = pl.DataFrame(rows, schema=list(COLUMNS), orient="row").cast(dict(frame.schema))
    return pl.concat([frame, added])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--share", type=float, default=0.02)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--users", type=int, default=4000, help="of the synthetic ratings")
    asked = parser.parse_args()
    chance, system, engine = np.random.default_rng(0), XMap(), Local()
    before = parts(asked.paths, asked.users)
    after = joined([changed(frame, asked.share, chance) for frame in before])
    _, memory = ItemMap.refit(system, joined(before), Memory.empty(), engine=engine)
    ItemMap.refit(system, after, memory, engine=engine)  # compile
    anew, again = [], []
    for _ in range(asked.rounds):
        with Clock() as clock:
            fitted = ItemMap.fit(system, after, engine=engine)
        anew.append(clock.cpu)
        with Clock() as clock:
            refitted, _ = ItemMap.refit(system, after, memory, engine=engine)
        again.append(clock.cpu)
    for name in ("replacement", "neighbours", "similarities", "means"):
        assert np.array_equal(getattr(fitted, name), getattr(refitted, name)), name
    share = np.median(again) / np.median(anew)
    print(
        f"{len(after.ratings):,} ratings of {after.ratings.n_items:,} items: "
        f"{np.median(anew):.3f} CPU s anew, {np.median(again):.3f} refitted, share {share:.3f}"
    )


if __name__ == "__main__":
    main()
