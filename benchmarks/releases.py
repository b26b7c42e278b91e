"""A year of weekly releases by a curator beside a single release at the same epsilon per user.

NDCG@20 on a fifth of the interactions held out, lists made from each user's true items. Users join
in one of the weeks with all their items, or a week of each item is drawn.

    python benchmarks/releases.py interactions.parquet --epsilons 1,3 --releases 52
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from dp_ease import held_out
from tacit import read
from tacit.training import DPEase, DPPopularity
from tacit.training.continual.release import make_release
from tacit.training.continual.state_file import SeriesTerms

SINGLE = {"dp-popularity": DPPopularity(), "dp-ease": DPEase()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--epsilons", default="1,3")
    parser.add_argument("--releases", type=int, default=52)
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    own, figure = held_out(read(asked.data), asked.seed)
    random = np.random.default_rng(asked.seed)
    weeks = {
        "users join": random.integers(0, asked.releases, own.n_users)[own.users],
        "items join": random.integers(0, asked.releases, len(own)),
    }
    print("epsilon per user  model          data        NDCG@20  one release  CPU s a release")
    for epsilon in asked.epsilons.split(","):
        for name, trainer in SINGLE.items():
            single = figure(trainer.fit(own, epsilon=epsilon, delta=asked.delta))
            for data, week in weeks.items():
                terms = SeriesTerms(name, epsilon, asked.delta, asked.releases)
                begun = time.process_time()
                with tempfile.TemporaryDirectory() as folder:
                    for release in range(asked.releases):
                        fitted = make_release(Path(folder), own.where(week <= release), terms)
                cost = (time.process_time() - begun) / asked.releases
                print(
                    f"{epsilon:>16}  {name:14} {data:10} {figure(fitted):8.4f} {single:12.4f} "
                    f"{cost:16.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
