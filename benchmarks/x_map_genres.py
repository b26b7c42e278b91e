"""X-Map's split of one catalogue by genre, from the downloaded file to the MAE of three systems.

    python benchmarks/x_map_genres.py RATINGS [--items FILE] [--master local[2]] [--seeds 1]
           [--made PEOPLE,ITEMS,RATINGS] [--k 50] [--memory 4g]

RATINGS: MovieLens 20M's ratings.csv, or any with genres beside it. Genres are dealt out in turn by
how many items have them; the first half is the source. A fifth of those who rated in both are
tested, with nothing kept of the target. NX-Map and X-Map by items as printed, at the published
claim, and MLlib-ALS, MAE unrounded and rounded, beside what the authors' report has for ML-20M.
`--made` makes ratings up instead, every item in one genre of two: for time and memory alone.
"""

import argparse
import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from followed import followed
from tacit import read
from tacit.crossdomain import MllibALS, XMap, changed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.genres import SIDES, GenreSplit, Halves
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.scoring import score
from tacit.crossdomain.trial import System
from tacit.engines.local import Local
from tacit.engines.spark import Spark
from tacit.readers import items as catalogue
from tacit.readers import synthetic

PUBLISHED = {"nx-map": 0.6027, "x-map": 0.6830, "mllib-als": 0.6729}
EPSILONS = {"nx-map": None, "x-map": "1.1", "mllib-als": None}


def halves(asked: argparse.Namespace) -> Domains:
    """Source and target, of a file or made up."""
    if asked.made:
        people, items, count = map(int, asked.made.split(","))
        ratings = synthetic(people, items, count, "0.5:5:0.5")
        genres = [["Drama" if item % 2 else "Comedy"] for item in range(items)]
        frame = pl.DataFrame({"item": ratings.item_ids.ids, "genres": genres})
    else:
        ratings, frame = read(asked.ratings), catalogue(asked.items or asked.ratings)
    split = Halves.of(ratings, GenreSplit(frame))
    print("\n".join(split.sentences), flush=True)
    both = zip(SIDES, (split.source, split.target), strict=True)
    return Domains.join([replace(half, name=name) for name, half in both])


def measured(asked: argparse.Namespace, domains: Domains) -> Iterator[str]:
    """A line a system and seed."""
    systems: tuple[System, ...] = (
        changed(XMap(), k=asked.k),
        changed(XMap(mode="faithful"), k=asked.k),
        MllibALS(),
    )
    every = [(seed, system) for seed in range(asked.seeds) for system in systems]
    for seed, system in followed("genres", every):
        hidden = Holdout().hide(domains, target=1, seed=seed)
        begun = time.perf_counter()
        with Spark(asked.master, memory=asked.memory) as spark:
            engine = spark if isinstance(system, MllibALS) else Local()
            told = system.predict(hidden.trial, engine=engine, epsilon=EPSILONS[system.name])
        took = time.perf_counter() - begun
        found = score(hidden.values, told.predicted, domains.ratings.scale)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        yield (
            f"{system.name:10s} {found.mae:.4f} {found.mae_rounded:.4f} {found.coverage:.2f} "
            f"{PUBLISHED[system.name]:.4f} {took:8.1f} {peak:6.1f}"
        )


def main() -> None:
    """Split, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs="?")
    parser.add_argument("--items", type=Path)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--made", help="PEOPLE,ITEMS,RATINGS")
    asked = parser.parse_args()
    if (asked.ratings is None) == (asked.made is None):
        parser.error("give ratings, or --made PEOPLE,ITEMS,RATINGS")
    domains = halves(asked)
    print("system     MAE    rounded covered, published (ML-20M), seconds, GiB at most")
    for line in measured(asked, domains):
        print(line, flush=True)


if __name__ == "__main__":
    main()
