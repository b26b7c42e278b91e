"""The library's own factorization: what it finds, what it does with strangers, where it runs."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.crossdomain import MllibALS
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.engines.engine import Local
from tacit.engines.spark import Spark
from tacit.errors import RequestError
from tacit.readers import from_frame

PEOPLE, ITEMS = 60, 24


@pytest.fixture(scope="module")
def hidden():
    """Ratings of rank one, on a fine scale: what is hidden follows from what is not."""
    chance = np.random.default_rng(0)
    true = np.outer(chance.uniform(1, 2.2, PEOPLE), chance.uniform(1, 2.2, ITEMS))
    people, items = np.divmod(np.arange(PEOPLE * ITEMS), ITEMS)
    frame = pl.DataFrame(
        {"user": people, "item": items, "rating": (true.ravel() * 50).round() / 50}
    )
    parts = {"books": pl.col("item") < ITEMS // 2, "films": pl.col("item") >= ITEMS // 2}
    read = [from_frame(frame.filter(of), scale="1:5:0.02", name=n) for n, of in parts.items()]
    return Holdout(keep=2).hide(Domains.join(read), target=1, seed=0)


def test_it_runs_on_spark_alone(hidden):
    with pytest.raises(RequestError, match=r"pass a Spark engine \(--engine spark\)"):
        MllibALS().predict(hidden.trial, engine=Local(), epsilon=None)


@pytest.mark.spark
def test_ratings_of_rank_one_are_found_again_and_a_stranger_gets_the_mean(hidden):
    trial = hidden.trial
    stranger = int(trial.people[0])
    ratings = trial.domains.ratings
    without = replace(trial, domains=trial.domains.where(ratings.users != stranger))
    with Spark("local[2]") as engine:
        system = MllibALS(factors=2, rounds=60, ridge=0.001)
        told = system.predict(without, engine=engine, epsilon=None).predicted
    theirs = trial.users == stranger
    assert (told.covered == ~theirs).all()
    assert np.abs(told.values - hidden.values)[~theirs].max() < 0.1
    of_item = {
        i: without.domains.ratings.values[without.domains.ratings.items == i].mean()
        for i in trial.items[theirs]
    }
    assert told.values[theirs] == pytest.approx([of_item[i] for i in trial.items[theirs]], rel=1e-5)
