"""Where people rated little: `channel-mf` beside `bias`, which has levels and nothing else.

    python benchmarks/few_ratings.py SET .. [--epsilons 0.5,1,3,none] [--seeds 5]

A SET is a table of ratings; a table and a number, `ml-1m.parquet:4`, which keeps so many ratings of
each person, drawn with `default_rng(0)`; or `made:4`, a world of 4,000 people and 4,000 items with
four ratings a person. A tenth is held out. A line for each set, place and epsilon has the mean RMSE
of both over the seeds, and how far `channel-mf` is above.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from followed import followed
from item_features import held_out, known_of
from tacit import Ratings, fold_in, read, synthetic
from tacit.metrics.accuracy import rmse
from tacit.models import model

MODELS = "bias", "channel-mf"
PLACES = "provider", "device"
MADE, ROWS = "made", 4000


def ratings_of(given: str, scale: str) -> Ratings:
    """The ratings that a SET names."""
    path, _, number = given.partition(":")
    if path == MADE:
        few = int(number)
        return synthetic(ROWS, ROWS, ROWS * few, fewest=max(few // 2, 1))
    ratings = read(path, scale=scale)
    return few_of_each(ratings, int(number)) if number else ratings


def few_of_each(ratings: Ratings, few: int) -> Ratings:
    """So many ratings of each person, or all they have, by chance."""
    chance = np.random.default_rng(0).random(len(ratings))
    order = np.lexsort((chance, ratings.users))
    first = np.searchsorted(ratings.users[order], np.arange(ratings.n_users))
    kept = np.zeros(len(ratings), np.bool_)
    kept[order] = np.arange(len(ratings)) - first[ratings.users[order]] < few
    return ratings.where(kept)


def errors(ratings: Ratings, epsilon: str, seed: int) -> Iterator[float]:
    """RMSE at the provider and on the device, of each model."""
    test = held_out("ratings", ratings, seed)
    own, held = ratings.where(~test), ratings.where(test)
    known = known_of(own, epsilon)
    for name in MODELS:
        fitted = model(name).fit(known, rng=seed)
        for where in (fitted, fold_in(fitted, own)):
            yield rmse(held.values, where.predict_codes(held.users, held.items))


def main() -> None:
    """Print a line for each set, place and epsilon."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("sets", nargs="+", metavar="SET")
    parser.add_argument("--epsilons", default="0.5,1,3,none", help="nats per value, or none")
    parser.add_argument("--seeds", type=int, default=5, help="splits and their noise")
    parser.add_argument("--scale", default="1:5:1")
    given = parser.parse_args()
    print("set  where  epsilon  bias  channel-mf  above")
    cells = [(each, epsilon) for each in given.sets for epsilon in given.epsilons.split(",")]
    for each, epsilon in followed("few ratings", cells):
        ratings = ratings_of(each, given.scale)
        rows = [list(errors(ratings, epsilon, seed)) for seed in range(given.seeds)]
        simple, ours = np.mean(rows, 0).reshape(len(MODELS), len(PLACES))
        for place, a, b in zip(PLACES, simple, ours, strict=True):
            print(f"{each} {place:8} {epsilon:4} {a:.4f} {b:.4f} {b - a:+.4f}", flush=True)


if __name__ == "__main__":
    main()
