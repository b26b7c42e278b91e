"""Lists from shuffled messages at an epsilon per user, without a curator: NDCG@20 and messages.

    python benchmarks/shuffled.py interactions.parquet --seeds 3
    python benchmarks/shuffled.py interactions.parquet --topics 40

Every user of DATA has 17 or 166 devices, each with its own draws; a fifth of the interactions is
held out. With --topics, users are drawn from a model of that many non-negative factors fitted to
DATA (Bernoulli by user), and lists are for users who sent nothing. Everything about the lists is
chosen from counts. Rows state both epsilons, the messages of a device over both rounds, and NDCG@20
next to popularity and EASE without privacy, and the share of EASE's gain over popularity.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from tacit import fit, from_frame, read
from tacit.metrics.lists import list_figures
from tacit.models.lists.item_weights import ItemWeights
from tacit.ratings import Ratings
from tacit.training import ShuffledEase
from tacit.training.shuffled.settings import plan_for
from tacit.training.shuffled.simulation import SimulatedDevices

SETTINGS = {
    "1": ShuffledEase(messages=100, most_dummies=1900, turnout=1.0),
    "1.44": ShuffledEase(messages=150, most_dummies=2000, turnout=1.0),
    "4": ShuffledEase(messages=30, most_dummies=220, turnout=1.0),
}
"""Trainers by epsilon in nats per user, a profile replaced by any other one.

Epsilon 1.44 is at most 1 against an empty profile, at the delta of the topic model.
"""
COPIES = {17: "9.7e-8", 166: "9.9e-9"}
"""Devices per user, and the delta: .01 over the number of devices of MovieLens 1M."""
SWEEPS = 60
TOPIC_COPIES = 16


@dataclass(frozen=True)
class Trial:
    """Devices that send messages, and users whose lists are evaluated.

    `known`: interactions of the devices' users, for models without privacy.
    """

    name: str
    known: Ratings
    devices: SimulatedDevices
    delta: str
    own: Ratings
    test: Ratings
    epsilons: tuple[str, ...] = ("1", "4")

    def ndcg(self, weights: ItemWeights) -> float:
        """NDCG@20 of the lists of these weights."""
        lists = replace(fit("popularity", self.own), weights=weights).lists(self.own, 20)
        counts = np.bincount(self.own.items, minlength=self.own.n_items)
        return list_figures(lists, self.test.users, self.test.items, counts).ndcg

    def row(self, epsilon: str, honest: float, popular: float, best: float) -> str:
        """The figures of one training run, and its share of the gain from `popular` to `best`."""
        trainer = replace(SETTINGS[epsilon], honest=honest)
        plan = plan_for(trainer, self.devices.people, self.devices.items, epsilon, self.delta)
        collected = trainer.learn(self.devices, plan)
        certificate = collected.certificate
        sent = " + ".join(f"{one.messages} + {one.dummies}" for one in collected.rounds)
        total = sum(one.messages + one.dummies for one in collected.rounds)
        ndcg = self.ndcg(collected.weights)
        return (
            f"{self.name}, {self.devices.people:,} devices, honest {honest:g}: epsilon "
            f"{certificate.replaced} (replaced), {certificate.empty} (empty profile), delta "
            f"{self.delta}; {total:,} messages ({sent}); NDCG@20 {ndcg:.4f}, "
            f"{(ndcg - popular) / (best - popular):.2f} of the gain"
        )


def split(data: Ratings, seed: int) -> tuple[Ratings, Ratings]:
    """Training interactions, and a fifth held out."""
    held_out = np.random.default_rng(seed).random(len(data)) < 0.2
    return data.where(~held_out), data.where(held_out)


def copied(data: Ratings, seeds: int) -> Iterator[Trial]:
    """Every user with many devices."""
    for copies, delta in COPIES.items():
        for seed in range(seeds):
            own, test = split(data, seed)
            devices = SimulatedDevices.of(own, copies)
            yield Trial(f"split {seed}", own, devices, delta, own, test)


def topic_shares(data: Ratings, topics: int) -> np.ndarray:
    """Probability of each interaction by a factorization (Lee and Seung 2001, Euclidean)."""
    table = np.zeros((data.n_users, data.n_items), np.float32)
    table[data.users, data.items] = 1
    rng = np.random.default_rng(0)
    users = rng.random((data.n_users, topics), np.float32)
    items = rng.random((topics, data.n_items), np.float32)
    for _ in range(SWEEPS):
        users *= (table @ items.T) / (users @ (items @ items.T) + 1e-9)
        items *= (users.T @ table) / ((users.T @ users) @ items + 1e-9)
    return np.minimum(users @ items, 1)


def drawn(shares: np.ndarray, copies: int, seed: int) -> Ratings:
    """Distinct users: `copies` Bernoulli draws of every row."""
    rng = np.random.default_rng(seed)
    users, items = [], []
    for copy in range(copies):
        rows, columns = np.nonzero(rng.random(shares.shape, np.float32) < shares)
        users.append(rows + copy * len(shares))
        items.append(columns)
    frame = pl.DataFrame({"user": np.concatenate(users), "item": np.concatenate(items)})
    people = range(copies * len(shares))
    return from_frame(frame, scale="there", catalogue=range(shares.shape[1]), people=people)


def from_topics(data: Ratings, topics: int) -> Trial:
    """Distinct users of a topic model, and lists for users who sent nothing."""
    shares = topic_shares(data, topics)
    own, test = split(drawn(shares, 1, 1), 0)
    known = drawn(shares, TOPIC_COPIES, 2)
    devices = SimulatedDevices.of(known)
    epsilons = ("1", "1.44", "4")
    return Trial(f"{topics} topics", known, devices, "1e-7", own, test, epsilons)


def main() -> None:
    """Print a row per trial, epsilon and honest fraction."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="a table of user and item")
    parser.add_argument("--seeds", type=int, default=1, help="number of splits")
    parser.add_argument("--topics", type=int, help="topics of a model of distinct users")
    options = parser.parse_args()
    data = read(options.data, scale="there")
    topics = options.topics
    for trial in [from_topics(data, topics)] if topics else copied(data, options.seeds):
        popular = trial.ndcg(fit("popularity", trial.known).weights)
        best = trial.ndcg(fit("ease", trial.known).weights)
        print(f"{trial.name}: without privacy, popularity {popular:.4f}, EASE {best:.4f}")
        for epsilon in trial.epsilons:
            for honest in (1.0, 0.8):
                print(trial.row(epsilon, honest, popular, best), flush=True)


if __name__ == "__main__":
    main()
