"""What a public table of items is worth: RMSE with it and without, of old items and of new ones.

    python benchmarks/item_features.py RATINGS ITEMS [--epsilons 0.5,1] [--seeds 2]
        [--columns genres,year] [--model channel-mf]

Both models learn from the same reports. *Ratings*: a tenth of them is held out. *Items*: a tenth of
the items, with all that anybody rated of them (`default_rng(0).random(items) < .1`, items in the
order of their ids). The column `year` is the one in brackets at a title's end.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from followed import followed
from tacit import Rated, Ratings, fold_in, perturb, read
from tacit.channels import choose_channel
from tacit.metrics.accuracy import rmse
from tacit.models import Evidence, evidence, model
from tacit.readers import item_table

NONE = "none"
HELD_OUT = 0.1


def described(path: str, columns: list[str]) -> pl.DataFrame:
    """The columns asked for, with a year that is read off the title."""
    table = item_table(path)
    if "year" in columns and "year" not in table.columns:
        ends = pl.col("title").str.extract(r"\((\d{4})\)\s*$")
        table = table.with_columns(year=ends.cast(pl.Int64))
    return table.select("item", *columns)


def held_out(kind: str, data: Ratings, seed: int) -> NDArray[np.bool_]:
    """Which ratings the models never see."""
    if kind == "ratings":
        return np.random.default_rng(seed).random(len(data)) < HELD_OUT
    return (np.random.default_rng(0).random(data.n_items) < HELD_OUT)[data.items]


def known_of(own: Ratings, epsilon: str) -> Evidence:
    """What both models learn from: reports of the most telling channel, or the ratings."""
    if epsilon == NONE:
        return evidence(own)
    return evidence(perturb(own, Rated(choose_channel(epsilon=epsilon, scale=own.scale)[1])))


def errors(
    name: str, known: Evidence, own: Ratings, test: Ratings, table: pl.DataFrame, seed: int
) -> Iterator[float]:
    """RMSE of provider and device without the table, then with it."""
    for settings in ({}, {"item_table": table}):
        fitted = model(name, **settings).fit(known, rng=seed)
        for where in (fitted, fold_in(fitted, own)):
            yield rmse(test.values, where.predict_codes(test.users, test.items))


def main() -> None:
    """Print a row for each epsilon and kind of split, the means over the seeds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("ratings")
    parser.add_argument("items")
    parser.add_argument("--epsilons", default="0.5,1,3,none", help="nats per value, or none")
    parser.add_argument("--seeds", type=int, default=2, help="splits and their noise")
    parser.add_argument("--columns", default="genres,year", help="of the table")
    parser.add_argument("--scale", default="1:5:1")
    parser.add_argument("--model", default="channel-mf", help="one that reads a table of items")
    given = parser.parse_args()
    data = read(given.ratings, scale=given.scale)
    table = described(given.items, given.columns.split(","))
    cells = [
        (epsilon, kind, seed)
        for epsilon in given.epsilons.split(",")
        for kind in ("ratings", "items")
        for seed in range(given.seeds)
    ]
    found: dict[tuple[str, str], list[list[float]]] = {}
    for epsilon, kind, seed in followed("item features", cells):
        test = held_out(kind, data, seed)
        own = data.where(~test)
        row = errors(given.model, known_of(own, epsilon), own, data.where(test), table, seed)
        found.setdefault((epsilon, kind), []).append(list(row))
    print("epsilon  held out  provider: without  with    less     device: without  with    less")
    for (epsilon, kind), rows in found.items():
        (a, b), (c, d) = np.mean(rows, 0).reshape(2, 2).T
        provider, device = f"{a:17.4f}  {b:.4f}  {a - b:+.4f}", f"{c:15.4f}  {d:.4f}  {c - d:+.4f}"
        print(f"{epsilon:8} {kind:8}  {provider}  {device}")


if __name__ == "__main__":
    main()
