"""Lists by predicted stars, by presence, and by both: what they would like, meet, meet and like.

    python benchmarks/stars_and_presence.py [--data RATINGS] [--epsilons none,4] [--seeds 3]
        [--stars channel-mf] [--presence ease] [--plan catalogue]

NDCG@20 of lists made at home, a fifth of the ratings held out: by *all* test items, and by those
rated at least three quarters up the scale (*liked*). Both models learn from the same ratings, or
from the same reports of randomized response over missing and stars, at an epsilon per slot.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from followed import followed
from tacit import Ratings, Reports, compile_channel, fit, perturb, read, synthetic
from tacit.collection import named_plans
from tacit.metrics.accuracy import relevant_from
from tacit.metrics.lists import list_figures
from tacit.metrics.split import SplitProtocol
from tacit.models.lists import LIST_MODELS, FittedLists, interactions
from tacit.models.lists.from_ratings import lists_by_gain, lists_by_rating
from tacit.ratings import Codes

NONE = "none"
SPLIT = SplitProtocol(share=0.2)


def known_of(own: Ratings, epsilon: str, plan: str) -> Ratings | Reports:
    """What both models learn from."""
    if epsilon == NONE:
        return own
    channel = compile_channel("randomized-response", epsilon=epsilon, scale=own.scale, missing=True)
    return perturb(own, named_plans.plan(plan, channel))


def ways(
    own: Ratings, known: Ratings | Reports, stars: str, presence: str
) -> Iterator[tuple[str, Codes]]:
    """Everybody's list, each way."""
    for name in ("popularity", presence):
        listed = LIST_MODELS[name].fit(interactions(known))
        yield name, listed.lists(own, 20)
    rated = fit(stars, known)
    yield stars, lists_by_rating(rated, own)
    assert isinstance(listed, FittedLists)
    yield "both", lists_by_gain(listed, rated, own)


def figures(lists: Codes, own: Ratings, test: Ratings) -> tuple[float, float]:
    """NDCG@20 by all test items, and by those that are liked."""
    counts = np.bincount(own.items, minlength=own.n_items)
    liked = test.where(test.values >= relevant_from(test.scale))
    every, best = (list_figures(lists, some.users, some.items, counts) for some in (test, liked))
    return every.ndcg, best.ndcg


def main() -> None:
    """Print a row for each way and epsilon, the means over the splits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="ratings; made up without it")
    parser.add_argument("--epsilons", default="none,4", help="nats per slot, or none")
    parser.add_argument("--seeds", type=int, default=3, help="splits and their noise")
    parser.add_argument("--stars", default="channel-mf", help="a model of ratings")
    parser.add_argument("--presence", default="ease", help="a model of lists")
    parser.add_argument("--plan", default="catalogue", help="or sample:K")
    given = parser.parse_args()
    data = read(given.data) if given.data else synthetic(400, 150, 12_000)
    cells = [(e, seed) for e in given.epsilons.split(",") for seed in range(given.seeds)]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for epsilon, seed in followed("lists", cells):
        held_out = SPLIT.test(data, seed, None)
        own, test = data.where(~held_out), data.where(held_out)
        known = known_of(own, epsilon, given.plan)
        for way, lists in ways(own, known, given.stars, given.presence):
            found.setdefault((epsilon, way), []).append(figures(lists, own, test))
    print("epsilon  lists by      all     liked")
    for (epsilon, way), each in found.items():
        every, liked = np.mean(each, 0)
        print(f"{epsilon:8} {way:12} {every:.4f}  {liked:.4f}")


if __name__ == "__main__":
    main()
