"""Moves of a prior's weights with rows: the law of a normal world, and how far weights get."""

import numpy as np
import pytest
from repeatable_words import RepeatableWordsForTestsOnly

from tacit import Rated, compile_channel, perturb, synthetic
from tacit.engines.engine import Local
from tacit.engines.tables import InMemory
from tacit.kernels.gibbs_rows import GRAIN
from tacit.kernels.gibbs_scales import WeightSums
from tacit.models import evidence
from tacit.models.channel_mf import gibbs
from tacit.models.channel_mf.row_prior import Prior, WeightMove
from tacit.models.evidence.item_features import Features

FEATURES, COLUMN = 3, 1


class NormalWorld:
    """Reports whose log-likelihood of a column's weights is -(w - best)' H (w - best) / 2."""

    def __init__(self) -> None:
        rng = np.random.default_rng(6)
        root = rng.normal(size=(FEATURES, 8))
        self.H, self.best = root @ root.T, rng.normal(size=FEATURES)
        self.prior = Prior.start(2, [Features(rng.normal(size=(20, 3)), np.array([1, 2, 3]))], 4.0)
        self.prior.weights[:, COLUMN] = rng.normal(size=FEATURES)
        self.prior.tightness[:] = 4.0

    def sums(self, w: np.ndarray) -> WeightSums:
        """What reports say at the weights w."""
        away = w - self.best
        parts = np.array([-away @ self.H @ away / 2]), -self.H @ away, np.tril(self.H)
        return WeightSums(*(np.rint(GRAIN * part).astype(np.int64) for part in parts))


def test_in_a_normal_world_a_move_is_a_draw_and_always_taken() -> None:
    world, rng = NormalWorld(), np.random.default_rng(0)
    before = world.prior.weights[:, COLUMN]
    P = 4.0 * np.diag([1.0, 2.0, 3.0])
    covariance = np.linalg.inv(world.H + P)
    mean = covariance @ world.H @ world.best
    drawn = np.empty((4000, FEATURES))
    for draw in drawn:
        here = world.sums(before)
        proposal = WeightMove.proposed(world.prior, COLUMN, here, rng)
        there = world.sums(before + proposal.move)
        assert proposal.gain(world.prior, here, there) == pytest.approx(0, abs=1e-4)
        draw[:] = before + proposal.move
    assert np.allclose(drawn.mean(0), mean, atol=4 * np.sqrt(np.diag(covariance) / 4000))
    assert np.allclose(np.cov(drawn.T), covariance, atol=0.1 * covariance.max())


def test_what_is_less_likely_than_foretold_is_refused_by_as_much() -> None:
    world, rng = NormalWorld(), np.random.default_rng(1)
    before = world.prior.weights[:, COLUMN]
    here = world.sums(before)
    proposal = WeightMove.proposed(world.prior, COLUMN, here, rng)
    there = world.sums(before + proposal.move)
    worse = there._replace(likelihood=there.likelihood - int(2.5 * GRAIN))
    assert proposal.gain(world.prior, here, worse) == pytest.approx(-2.5, abs=1e-4)


@pytest.mark.parametrize("moved", [True, False])
def test_weights_go_further_in_a_sweep_where_reports_say_little(moved: bool) -> None:
    ratings = synthetic(200, 100, 5000, rng=2)
    channel = compile_channel("optimal", epsilon="0.2", scale=ratings.scale)
    data = evidence(perturb(ratings, Rated(channel), words=RepeatableWordsForTestsOnly(3)))
    chain = gibbs.GibbsChain(data, 1, 4, [], 20, 0, Local(), InMemory())
    assert chain.moves_weights
    chain.moves_weights = moved
    drawn = []
    for _ in range(200):
        chain.sweep()
        drawn.append(chain.people.prior.weights[:, 0])
    kept = np.array(drawn[50:])
    kept -= kept.mean(0)
    after_eight = (kept[8:] * kept[:-8]).sum(0) / (kept**2).sum(0)
    # Over eight seeds of ratings it was -.18 to .03, and .26 to .73 where rows alone move.
    assert (after_eight.mean() < 0.15) == moved


def test_a_chain_told_of_ratings_moves_rows_alone() -> None:
    data = evidence(synthetic(100, 60, 2500, rng=2))
    assert not gibbs.GibbsChain(data, 1, 4, [], 20, 0, Local(), InMemory()).moves_weights
