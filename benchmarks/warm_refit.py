"""Warm refits after 2 % of the users joined: CPU seconds and error, against a fit from scratch.

NDCG@20 of lists made from each user's true items, a fifth of them held out, or RMSE on a fifth of
the ratings. Reading, perturbing and exposure are not timed. One thread, whose CPU seconds do not
depend on what else the machine does.

    python benchmarks/warm_refit.py ratings.parquet --epsilon 3 --models ease,graph-filter
"""

import argparse
import os

os.environ["NUMBA_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dp_ease import held_out
from measure import Clock
from tacit import perturb, read
from tacit.collection.named_plans import plan_of
from tacit.learners import learner
from tacit.metrics.accuracy import rmse
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.vocabulary import Vocabulary

PLANS = {"ease": "catalogue", "graph-filter": "catalogue", "mf": "rated", "channel-mf": "rated"}
Figure = Callable[[Any], float]


def earlier(data: Any, share: float) -> Any:
    """Return the reports or ratings without those of the last users."""
    users = round(data.n_users * (1 - share))
    part = data.where(data.users < users)
    return replace(part, user_ids=Vocabulary(data.user_ids.ids[:users]))


def of_lists(path: Path, seed: int) -> tuple[Ratings, Figure]:
    """Return four fifths of the interactions, and NDCG@20 on the others."""
    return held_out(read(path, scale="there"), seed)


def of_stars(path: Path, seed: int) -> tuple[Ratings, Figure]:
    """Return four fifths of the ratings, and the RMSE on the others."""
    ratings = read(path)
    test = np.random.default_rng(seed).random(len(ratings)) < 0.2
    held = ratings.where(test)
    return ratings.where(~test), lambda fitted: rmse(
        held.values, fitted.predict_codes(held.users, held.items)
    )


def measured(name: str, data: Reports | Ratings, figure: Figure, share: float) -> str:
    """Return a line of the table."""
    chosen, seconds, figures = learner(name), [], []
    last = chosen.fit(earlier(data, share))
    for settings in ({}, {"warm": last}):
        with Clock() as clock:
            fitted = chosen.fit(data, **settings)
        seconds.append(clock.cpu)
        figures.append(figure(fitted))
    cold, warm = seconds
    times = f"{cold:8.2f} {warm:8.2f} {warm / cold:6.3f}"
    return f"{times} {figures[0]:9.4f} {figures[1]:8.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--epsilon", default="3", help="per slot of lists, or value of stars")
    parser.add_argument("--models", default=",".join(PLANS))
    parser.add_argument("--share", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("model         plan       CPU s: cold     warm  share  figure: cold     warm", flush=True)
    for name in asked.models.split(","):
        lists = PLANS[name] == "catalogue"
        own, figure = (of_lists if lists else of_stars)(asked.data, asked.seed)
        plan = plan_of(PLANS[name], "auto", asked.epsilon, own.scale)
        sources = {PLANS[name]: perturb(own, plan)} | ({"no noise": own} if lists else {})
        for source, data in sources.items():
            line = measured(name, data, figure, asked.share)
            print(f"{name:13} {source:10} {line}", flush=True)


if __name__ == "__main__":
    main()
