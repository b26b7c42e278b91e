"""Lists of a rating model: by predicted rating, by exposure, and by expected gain.

    python benchmarks/stars_and_presence.py [--data RATINGS] [--epsilons none,1] [--seeds 3]
        [--model channel-mf] [--plan rated] [--where device,provider]

NDCG@20, a fifth of the ratings held out: by *all* test items, and by those rated at least three
quarters up the scale (*liked*). Epsilon is per value under the plan rated (channel: optimal), else
per slot (channel: randomized response over missing and stars).
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np

from followed import followed
from tacit import Ratings, Reports, compile_channel, fit, perturb, read, synthetic
from tacit.collection import named_plans
from tacit.device.profile import RankBy
from tacit.metrics.accuracy import relevant_from
from tacit.metrics.lists import list_figures
from tacit.metrics.split import SplitProtocol
from tacit.models.lists import LIST_MODELS, Where, interactions
from tacit.models.top_n import rating_model_lists
from tacit.ratings import Codes

NONE = "none"
SPLIT = SplitProtocol(share=0.2)


def known_of(own: Ratings, epsilon: str, plan: str) -> Ratings | Reports:
    """Return what the models are fitted to."""
    if epsilon == NONE:
        return own
    hidden = named_plans.protects_presence(plan)
    name = "randomized-response" if hidden else "optimal"
    channel = compile_channel(name, epsilon=epsilon, scale=own.scale, missing=hidden)
    return perturb(own, named_plans.plan(plan, channel))


def ways(
    own: Ratings, known: Ratings | Reports, model: str, places: list[Where]
) -> Iterator[tuple[str, Codes]]:
    """Yield the lists of all users, each way and at each place."""
    popular = LIST_MODELS["popularity"].fit(interactions(known))
    fitted = fit(model, known)
    assert fitted.exposure is not None
    for where in places:
        yield f"{where}: popularity", popular.lists(own, 20, where=where)
        yield f"{where}: exposure", fitted.exposure.lists(own, 20, where=where)
        for order in get_args(RankBy):
            lists = rating_model_lists(fitted, own, where=where, rank_by=order)
            yield f"{where}: {order}", lists


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
    parser.add_argument("--epsilons", default="none,1", help="nats per value or slot, or none")
    parser.add_argument("--seeds", type=int, default=3, help="splits and their noise")
    parser.add_argument("--model", default="channel-mf", help="a model of ratings")
    parser.add_argument("--plan", default="rated", help="or catalogue or sample:K")
    parser.add_argument("--where", default="device,provider", help="who recommends")
    given = parser.parse_args()
    data = read(given.data) if given.data else synthetic(400, 150, 12_000)
    cells = [(e, seed) for e in given.epsilons.split(",") for seed in range(given.seeds)]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for epsilon, seed in followed("lists", cells):
        held_out = SPLIT.test(data, seed, None)
        own, test = data.where(~held_out), data.where(held_out)
        known = known_of(own, epsilon, given.plan)
        for way, lists in ways(own, known, given.model, given.where.split(",")):
            found.setdefault((epsilon, way), []).append(figures(lists, own, test))
    print("epsilon  lists by               all     liked")
    for (epsilon, way), each in found.items():
        every, liked = np.mean(each, 0)
        print(f"{epsilon:8} {way:21} {every:.4f}  {liked:.4f}")


if __name__ == "__main__":
    main()
