"""A million made-up people at an epsilon per *person*: private gradients beside answers for slots.

    python benchmarks/pg_mf_million.py [--people 1000000] [--items 1500] [--ratings 30000000]

Every figure is RMSE on held-out true ratings, finished on devices; every epsilon covers a whole
profile. Randomized response answers for slots, rated or not: for K of them that a public hash
picks (`sample:K`, at epsilon / K a slot), or for all (`catalogue`, at most CAP ratings a person,
so at epsilon / min(n, 2 CAP) a slot). First the floors: what devices reach without any answers.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from tacit import Catalogue, Sample, compile_channel, fit, perturb, synthetic
from tacit.channels.table import Channel
from tacit.collection.perturb import kept_rows
from tacit.models import Fitted, device_predict
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings

SAMPLES: dict[str, tuple[int, ...]] = {"1": (1,), "10": (1, 4)}
CAP = 40
SPREAD = 0.4  # of item means around their mean, in stars: shrinks what was counted with noise

Doubles = NDArray[np.float64]


def error(fitted: Fitted, own: Ratings, test: Ratings) -> float:
    """RMSE on devices, predictions kept on the scale."""
    values = device_predict(fitted, own, test.users, test.items)
    return float(np.sqrt(np.mean((np.clip(values, *fitted.levels[[0, -1]]) - test.values) ** 2)))


def slot_channel(own: Ratings, epsilon: str, slots: int) -> Channel:
    """Randomized response at epsilon / slots, whole millionths of a nat."""
    share = (Decimal(epsilon) / slots).quantize(Decimal("1e-6"))
    return compile_channel("randomized-response", epsilon=str(share), scale=own.scale, missing=True)


def promised(guarantee: Guarantee, epsilon: str) -> bool:
    """Whether a person is promised `epsilon`, but for a last digit that is rounded up."""
    return abs(float(guarantee.epsilon or "inf") / float(epsilon) - 1) < 1e-6


def sampled(own: Ratings, epsilon: str, slots: int) -> Fitted:
    """Item means from answers for `slots` slots a person."""
    plan = Sample(slot_channel(own, epsilon, slots), slots)
    assert promised(plan.user_guarantee(own.n_items), epsilon)
    return fit("item-mean", perturb(own, plan))


def whole(own: Ratings, epsilon: str, start: Fitted) -> Fitted:
    """Item means from answers for the whole catalogue, of which only counts are kept.

    People answer independently, so the counts of an item are sums of multinomial draws: the law is
    that of the plan, without laying out people x items.
    """
    channel = slot_channel(own, epsilon, min(own.n_items, 2 * CAP))
    assert promised(Catalogue(channel, CAP).user_guarantee(own.n_items), epsilon)
    law, chance = np.array(channel.likelihood), np.random.default_rng()
    counts = [chance.multinomial(n, row) for n, row in zip(truth(own), law, strict=True)]
    values = np.r_[0, np.asarray(own.scale.values)] - start.mu[0] * np.r_[0, np.ones(len(law) - 1)]
    weights = np.linalg.inv(law) @ np.column_stack([values, np.arange(len(law)) > 0])
    total, rated = np.sum(counts, 0) @ weights[:, 0], np.sum(counts, 0) @ weights[:, 1]
    noise = own.n_users * float(law[0] @ weights[:, 0] ** 2)
    level = rated * total / (rated**2 + noise / SPREAD**2)
    return replace(start, items=level.astype(np.float32)[None, :, None])


def truth(own: Ratings) -> NDArray[np.int64]:
    """How many people have each input at each item, after the cap; shape (1 + levels, items)."""
    kept = own.where(kept_rows(own, CAP))
    inputs = np.zeros((1 + own.scale.n_levels, own.n_items), np.int64)
    np.add.at(inputs, (kept.levels.astype(np.int64) + 1, kept.items), 1)
    inputs[0] = own.n_users - inputs.sum(0)
    return inputs


def main() -> None:
    """Make people up, split, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=1500)
    parser.add_argument("--ratings", type=int, default=30_000_000)
    asked = parser.parse_args()
    ratings = synthetic(asked.people, asked.items, asked.ratings, rng=1)
    held = np.random.default_rng(0).random(len(ratings)) < 0.1
    own, test = ratings.where(~held), ratings.where(held)
    del ratings

    def show(name: str, make: Callable[[], Fitted]) -> Fitted:
        print(f"{name} ..", file=sys.stderr, flush=True)
        began = time.perf_counter()
        fitted = make()
        seconds = time.perf_counter() - began
        print(f"{name:<44}{error(fitted, own, test):8.4f}  {seconds:6.1f} s", flush=True)
        return fitted

    middle = float(np.mean(own.scale.values))
    print(f"{'the middle of the scale':<44}{np.sqrt(np.mean((test.values - middle) ** 2)):8.4f}")
    mean = show("own mean around the mean of all, no privacy", lambda: fit("global-mean", own))
    alone = replace(mean, mu=np.array([middle]))
    show("own mean around the middle: no answers", lambda: alone)
    show("item means and own mean, no privacy", lambda: fit("item-mean", own))
    for epsilon, samples in SAMPLES.items():
        for factors in (0, 1):
            name = f"epsilon {epsilon} per user: pg-mf, K = {factors}"
            show(name, lambda e=epsilon, k=factors: fit("pg-mf", own, epsilon=e, factors=k))
        for slots in samples:
            name = f"epsilon {epsilon} per user: sample:{slots}, item-mean"
            show(name, lambda e=epsilon, k=slots: sampled(own, e, k))
        name = f"epsilon {epsilon} per user: catalogue, item-mean"
        show(name, lambda e=epsilon: whole(own, e, alone))


if __name__ == "__main__":
    main()
