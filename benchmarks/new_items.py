"""Accuracy for items that came later: a chain of tasks against one task that had all items.

    python benchmarks/new_items.py ratings.parquet movies.csv --slots 800 --epsilon 3

Items come in the week of their first rating, and users in that of theirs, by the column `timestamp`
in Unix seconds. A device answers each item once: `--wait` days after its user came, or 28 days
after the week of the item, whichever is later. Later ratings are not reported. In the one task all
ratings are reported. A fifth of the ratings of items of weeks 1 to 40 is held out, and predicted on
devices, which have all other ratings. RMSE is of channel-mf with features of items, against means
by these features. NDCG@20 is of lists of the new items alone, by ease, against their popularity by
features.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from item_features import described
from tacit import Ratings, Sample, fold_in, from_frame, perturb
from tacit.channels import choose_channel
from tacit.learners import learner
from tacit.metrics.accuracy import rmse
from tacit.metrics.lists import list_figures
from tacit.reports import Reports

Mask = NDArray[np.bool_]
Values = NDArray[Any]
DAY, WEEK = 86_400, 7 * 86_400
LAST, END = 40, 45
"""Last week of new items, and number of weeks."""
DELAY = 28 * DAY
ENOUGH = 25
"""Positive answers of an item from which it should be as good as in one task."""
RIDGE = 10.0


class Split(NamedTuple):
    """Ratings of the first weeks.

    `own`: on devices. `test`: held out. `answered`: which of `own` are rated by the time of the
    answer. `week`: of each item.
    """

    own: Ratings
    test: Ratings
    answered: Mask
    week: Values


def split(path: Path, seed: int, wait: int) -> Split:
    """Return the ratings of users and items of the first weeks.

    `wait`: days from the first rating of a user to the first answer of the device.
    """
    frame = pl.read_parquet(path).select("user", "item", "rating", "timestamp")
    frame = frame.with_columns(time=pl.col("timestamp") - pl.col("timestamp").min())
    first = pl.col("time").min()
    frame = frame.with_columns(week=first.over("item") // WEEK, joined=first.over("user"))
    frame = frame.filter(
        (pl.col("time") < END * WEEK) & (pl.col("week") <= LAST) & (pl.col("joined") < END * WEEK)
    )
    opened = pl.when(pl.col("week") > 0).then((pl.col("week") + 1) * WEEK + DELAY).otherwise(0)
    answer = pl.max_horizontal(pl.col("joined") + wait * DAY, opened)
    frame = frame.with_columns(is_answered=pl.col("time") <= answer)
    data = from_frame(frame.select("user", "item", "rating"), scale="1:5:1")
    week = np.zeros(data.n_items, np.int64)
    week[data.items] = frame["week"].to_numpy()
    test = (week[data.items] > 0) & (np.random.default_rng(seed).random(len(data)) < 0.2)
    answered = frame["is_answered"].to_numpy()[~test]
    return Split(data.where(~test), data.where(test), answered, week)


def in_blocks(reports: Reports, week: Values) -> Reports:
    """Return reports whose items were answered in blocks, one a week."""
    return replace(reports, blocks=np.unique(week, return_inverse=True)[1].astype(np.int32))


def positives(reports: Reports, own: Ratings) -> Values:
    """Return how many users who have rated an item are queried about it, shape (items,)."""
    pairs = reports.users.astype(np.int64) * own.n_items + reports.items
    mine = own.users.astype(np.int64) * own.n_items + own.items
    return np.bincount(own.items[np.isin(mine, pairs)], minlength=own.n_items)


def by_features(table: pl.DataFrame, own: Ratings, values: Values, known: Mask) -> Values:
    """Return a ridge regression of items' values on their features, fitted to known items."""
    named = pl.DataFrame({"item": own.item_ids.ids}).join(table, on="item", how="left")
    year = named["year"].cast(pl.Float64).fill_null(strategy="mean").to_numpy()
    genres = [each or [] for each in named["genres"].to_list()]
    kinds = sorted({kind for each in genres for kind in each})
    columns = [np.array([kind in each for each in genres], float) for kind in kinds]
    X = np.stack([(year - year.mean()) / year.std(), *columns], 1)
    X -= X[known].mean(0)
    mean = values[known].mean()
    gram = X[known].T @ X[known] + RIDGE * np.eye(X.shape[1])
    return mean + X @ np.linalg.solve(gram, X[known].T @ (values[known] - mean))


def ndcg(scores: Values, parts: Split, group: Mask) -> float:
    """Return NDCG@20 of lists of the items of a group. `scores`: of all items, one row per user."""
    own, test = parts.own, parts.test
    scores = np.array(np.broadcast_to(scores, (own.n_users, own.n_items)), np.float32)
    scores[own.users, own.items] = -np.inf
    scores[:, ~group] = -np.inf
    lists = np.argsort(-scores, axis=1, kind="stable")[:, :20].astype(np.int32)
    lists[~np.isfinite(np.take_along_axis(scores, lists, 1))] = -1
    some = group[test.items]
    counts = np.bincount(own.items, minlength=own.n_items)
    return list_figures(lists, test.users[some], test.items[some], counts).ndcg


def figures(
    reports: Reports, parts: Split, table: pl.DataFrame, groups: list[Mask]
) -> Iterator[tuple[float, float]]:
    """Yield RMSE and NDCG@20 of each group."""
    own, test = parts.own, parts.test
    fitted = learner("channel-mf").fit(reports, item_table=table)
    predicted = fold_in(fitted, own).predict_codes(test.users, test.items)
    lists = learner("ease").fit(reports)
    scores = lists.scorer(lists.own_items(own), "device")(slice(0, own.n_users))
    for group in groups:
        some = group[test.items]
        yield rmse(test.values[some], predicted[some]), ndcg(scores, parts, group)


def features(
    parts: Split, table: pl.DataFrame, groups: list[Mask]
) -> Iterator[tuple[float, float]]:
    """Yield RMSE and NDCG@20 of means and shares by features, fitted to ratings of old items."""
    own, test = parts.own, parts.test
    counts = np.bincount(own.items, minlength=own.n_items)
    means = np.bincount(own.items, own.values, own.n_items) / np.maximum(counts, 1)
    known = (parts.week == 0) & (counts > 0)
    mean = by_features(table, own, means, known)
    share = by_features(table, own, np.log1p(counts), known)
    for group in groups:
        some = group[test.items]
        yield rmse(test.values[some], mean[test.items[some]]), ndcg(share, parts, group)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("items")
    parser.add_argument("--slots", type=int, default=800, help="queried items per user on average")
    parser.add_argument("--epsilon", default="3", help="nats per slot")
    parser.add_argument("--wait", type=int, default=1, help="days from first rating to answers")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    table = described(asked.items, ["genres", "year"])
    parts = split(asked.data, asked.seed, asked.wait)
    channel = choose_channel(epsilon=asked.epsilon, scale=parts.own.scale, missing=True)[1]
    plan = Sample(channel, asked.slots)
    answered = parts.own.where(parts.answered)
    chain, one = in_blocks(perturb(answered, plan), parts.week), perturb(parts.own, plan)
    many, new = positives(chain, answered) >= ENOUGH, parts.week > 0
    kinds = {f"from {ENOUGH} positive answers": new & many, "fewer": new & ~many}
    groups = {kind: group for kind, group in kinds.items() if group[parts.test.items].any()}
    print(f"{len(parts.own):,} ratings, {parts.answered.mean():.1%} of them at the answer")
    rows = {
        "chain": figures(chain, parts, table, list(groups.values())),
        "one task": figures(one, parts, table, list(groups.values())),
        "features": features(parts, table, list(groups.values())),
    }
    for name, row in rows.items():
        for (kind, group), (error, lists) in zip(groups.items(), row, strict=True):
            count = int(group[parts.test.items].sum())
            print(
                f"{name:9} {kind:25} {int(group.sum()):5,} items {count:6,} ratings  "
                f"RMSE {error:.4f}  NDCG@20 {lists:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
