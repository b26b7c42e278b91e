"""Whether two tasks under fresh names can be linked by what is reported under them.

    python benchmarks/linkage.py DATA [--epsilons 1,2,4] [--seed 0]

Everybody in DATA answers for the whole catalogue twice, through randomized response, under two
names that have nothing in common; ratings are those of the file both times. Who has both sets of
reports scores each pair of names by how much likelier its symbols are if one person sent both than
if two did, with the shares of ratings of each item taken from the reports, and links each name to
the best. Under `rated` the list of rated items is public: it is counted who has one of their own.
"""

import argparse
import math
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit import compile_channel, read
from tacit.channels.table import Channel
from tacit.ratings import Ratings

Rows = NDArray[np.intp]
"""Input rows of the channel, one person a row and one item a column; 0 is "missing"."""


def rows_of(ratings: Ratings) -> Rows:
    rows = np.zeros((ratings.n_users, ratings.n_items), np.intp)
    rows[ratings.users, ratings.items] = 1 + ratings.levels
    return rows


def answered(rows: Rows, channel: Channel, rng: np.random.Generator) -> Rows:
    """One symbol for each slot."""
    ends = np.cumsum(np.array(channel.likelihood), axis=1)[rows]
    return (rng.random((*rows.shape, 1)) > ends).sum(axis=2)


def linked(first: Rows, second: Rows, channel: Channel) -> float:
    """The share of people whose two names are linked."""
    table = np.array(channel.likelihood)
    symbols = np.arange(table.shape[1])
    total = np.zeros((len(first), len(second)))
    for item in range(first.shape[1]):
        shares = (first[:, item, None] == symbols).mean(axis=0)
        prior = np.clip(np.linalg.solve(table.T, shares), 1e-4, None)
        prior /= prior.sum()
        joint = table.T @ (prior[:, None] * table)
        alone = prior @ table
        total += np.log(joint / np.outer(alone, alone))[first[:, item]][:, second[:, item]]
    return float((total.argmax(axis=1) == np.arange(len(first))).mean())


def own_lists(ratings: Ratings) -> int:
    """How many people rated a set of items that nobody else rated."""
    sets: dict[int, set[int]] = {}
    for user, item in zip(ratings.users.tolist(), ratings.items.tolist(), strict=True):
        sets.setdefault(user, set()).add(item)
    counts = Counter(map(frozenset, sets.values()))
    return sum(count == 1 for count in counts.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--epsilons", default="1,2,4")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    ratings = read(asked.data)
    print(f"rated: {own_lists(ratings)} of {ratings.n_users} lists of items are somebody's alone")
    rows, rng = rows_of(ratings), np.random.default_rng(asked.seed)
    for epsilon in asked.epsilons.split(","):
        channel = compile_channel(
            "randomized-response", epsilon=epsilon, scale=ratings.scale, missing=True
        )
        share = linked(*(answered(rows, channel, rng) for _ in range(2)), channel)
        error = math.sqrt(share * (1 - share) / ratings.n_users)
        print(f"catalogue, epsilon {epsilon}: {share:.1%} +- {error:.1%} are linked")


if __name__ == "__main__":
    main()
