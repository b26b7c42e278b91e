"""What the sampler of `channel-mf` learns from reports of a world that is made as it supposes."""

import numpy as np
import polars as pl
import pytest
from repeatable_words import RepeatableWordsForTestsOnly

from tacit import Rated, Ratings, compile_channel, from_frame, perturb
from tacit.engines.engine import Local
from tacit.engines.tables import InMemory
from tacit.kernels.predict import bilinear
from tacit.models import evidence
from tacit.models.channel_mf import gibbs
from tacit.models.channel_mf.model import ChannelMF
from tacit.models.channel_mf.row_prior import LevelPrior, Prior, RowSums
from tacit.models.evidence.item_features import Features

PEOPLE, ITEMS, EACH = 1500, 300, 60
OF_PEOPLE, OF_ITEMS = 0.4, 0.5


def standardized(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def levels_alone(spread: float | np.ndarray = 0.85) -> Ratings:
    """Ratings that differ by person and by item alone, with the noise that the model supposes, or
    that of a `spread` for each person."""
    rng = np.random.default_rng(3)
    users = np.repeat(np.arange(PEOPLE), EACH)
    items = np.concatenate([rng.choice(ITEMS, EACH, replace=False) for _ in range(PEOPLE)])
    theta = 3.4 + OF_PEOPLE * standardized(rng.standard_normal(PEOPLE))[users]
    theta += OF_ITEMS * standardized(rng.standard_normal(ITEMS))[items]
    noise = np.broadcast_to(spread, PEOPLE)[users] * rng.standard_normal(len(users))
    rating = np.clip(np.rint(theta + noise), 1, 5)
    return from_frame(pl.DataFrame({"user": users, "item": items, "rating": rating}), scale="1:5:1")


@pytest.mark.parametrize("approach", [gibbs.APPROACH, 100.0], ids=["sound", "never-adjusted"])
def test_spreads_come_out_as_they_were_made(
    approach: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gibbs, "APPROACH", approach)
    channel = compile_channel("optimal", epsilon="1", scale="1:5:1")
    words = RepeatableWordsForTestsOnly(7)
    data = evidence(perturb(levels_alone(), Rated(channel), words=words))
    fitted = ChannelMF(factors=1, directions=0, draws=16).fit(data)
    people = float((fitted.precision[:, 0] ** -0.5).mean())
    items = float(fitted.items[:, :, 0].std(1).mean())
    # Of eight draws of the reports the product was .99 to 1.03, and .80 to .85 with the fault.
    near = abs(people * items / (OF_PEOPLE * OF_ITEMS) - 1) < 0.09
    assert near == (approach < 1)


def sums_of(rows: np.ndarray, features: np.ndarray) -> RowSums:
    """What a half-sweep tells of rows."""
    return RowSums(len(rows), features.T @ rows, rows.sum(0), (rows**2).sum(0))


def test_the_level_is_drawn_from_its_law() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 1))
    prior = Prior.start(2, [Features.by_rank(features)], 4.0)
    prior.weights[:, 0], prior.precision[0] = 0.7, 3.0
    biases = rng.normal(size=(40, 2))
    rows = sums_of(biases, features)
    drawn = [LevelPrior(3.0, 2.0).redrawn(3.6, rows, prior, rng) for _ in range(4000)]
    weight = 40 * 3.0 + 2.0
    mean = ((3.6 + biases[:, 0] - 0.7 * features[:, 0]).sum() * 3.0 + 3.0 * 2.0) / weight
    assert np.mean(drawn) == pytest.approx(mean, abs=4 / np.sqrt(4000 * weight))
    assert np.var(drawn) * weight == pytest.approx(1, abs=0.1)


def test_what_the_level_takes_the_biases_give_and_no_taste_is_touched() -> None:
    data = evidence(levels_alone())
    chain = gibbs.GibbsChain(data, 1, 0, [], 3, 0, Local(), InMemory())
    for _ in range(gibbs.SPREAD_EVERY + 1):
        chain.sweep()
        assert chain.people.shift != 0
        assert chain.items.shift != 0
        rows = chain.people.raised, chain.items.raised
        place = chain.scores.place(bilinear(data.user_of, data.item_of, chain.mu, *rows))
        found = np.zeros_like(chain.counts)
        read_at = data.symbols + 5 * chain.people.spreads[data.user_of].astype(int)
        np.add.at(found, (read_at, place), 1)
        assert np.abs(found - chain.counts).sum() < 1e-3 * len(data)  # beside where it rounds
    assert np.ptp(chain.people.spreads) == 2


def test_directions_have_factors_whatever_reports_are_worth() -> None:
    """Sixteen groups of people with items of their own are sixteen directions."""
    rng, each = np.random.default_rng(8), 20
    users = np.repeat(np.arange(16 * each), 12)
    own = np.argsort(rng.random((16 * each, each)))[:, :12].ravel()
    items = each * (users // each) + own
    frame = pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 6, len(users))})
    channel = compile_channel("optimal", epsilon="0.1", scale="1:5:1")
    data = evidence(perturb(from_frame(frame, scale="1:5:1"), Rated(channel)))
    widths = [
        gibbs.GibbsChain(data, factors, directions, [], 3, 0, Local(), InMemory()).width
        for factors, directions in ((None, 0), (None, 16), (3, 16))
    ]
    assert widths == [1 + 5, 1 + 9, 1 + 3]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", ["4", "1"])
def test_whoever_rates_at_random_is_told_from_whoever_does_not(epsilon: str) -> None:
    """Half of the people at .8 of the usual spread, half at 1.25, in reports of two channels."""
    steady = np.arange(PEOPLE) % 2 == 0
    spread = 0.85 * np.where(steady, 0.8, 1.25)
    channel = compile_channel("optimal", epsilon=epsilon, scale="1:5:1")
    words = RepeatableWordsForTestsOnly(9)
    data = evidence(perturb(levels_alone(spread), Rated(channel), words=words))
    chain = gibbs.GibbsChain(data, 1, 0, [], 10, 0, Local(), InMemory())
    drawn = []
    for _ in range(60):
        chain.sweep()
        drawn.append(chain.people.spreads.copy())
    mean = np.mean(drawn[20:], 0)
    apart = mean[~steady].mean() - mean[steady].mean()
    if epsilon == "1":
        assert apart == 0
        assert len(chain.scores.log_q) == chain.scores.symbols
    else:
        assert apart > 0.5
        assert (mean[~steady] > np.median(mean)).mean() > 0.75


def test_weights_of_later_directions_are_expected_to_be_smaller() -> None:
    """Features of nothing: weights come from their prior, whose variance falls as 1 / j."""
    rng = np.random.default_rng(0)
    features = np.zeros((30, 16))
    prior = Prior.start(3, [Features(features, np.arange(1.0, 17.0))], 4.0)
    rows, squares, spreads = sums_of(rng.normal(size=(30, 3)), features), [], []
    for _ in range(4000):
        tightness = prior.tightness
        prior.redraw(rows, rng)
        squares.append(prior.weights**2 * tightness)
        spreads.append((prior.weights**2).sum(0) / prior.unit)
    variance = np.mean(squares, (0, 2)) * np.arange(1, 17)
    assert variance == pytest.approx(np.ones(16), abs=0.1)
    # With gamma's shape of 3 the mean of one over a tightness is 3 / 2 of what is expected.
    assert np.mean(spreads) == pytest.approx(1.5, abs=0.3)


def test_each_origin_has_a_share_and_a_tightness_of_its_own() -> None:
    """Rows that follow the first origin's features alone: those of the second are to let go."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 400, 6))
    quiet = Features(values[1], np.ones(6), 0.25)
    prior = Prior.start(2, [Features(values[0], np.ones(6)), quiet], 4.0)
    assert np.allclose(prior.tightness[1], 4 * prior.tightness[0])
    rows = values[0] @ rng.normal(size=(6, 2)) + 0.1 * rng.normal(size=(400, 2))
    sums, drawn, weights = sums_of(rows, np.hstack([*values])), [], []
    for _ in range(200):
        prior.redraw(sums, rng)
        drawn.append(prior.tightness)
        weights.append((prior.weights, prior.precision))
    first, second = np.mean(drawn[20:], 0)
    assert (second > 30 * first).all()
    plain = np.linalg.lstsq(np.hstack([*values]), rows)[0]
    assert np.allclose(np.mean([w for w, _ in weights[20:]], 0), plain, atol=0.02)
    # The data's own residual precision: that of 400 rows is 100 with a deviation of 7.
    residuals = rows - np.hstack([*values]) @ plain
    own = (len(rows) - len(plain)) / (residuals**2).sum(0)
    assert np.allclose(np.mean([p for _, p in weights[20:]], 0), own, rtol=0.05)


def test_a_feature_of_few_rows_is_expected_to_explain_little() -> None:
    normal = np.random.default_rng(0).normal(size=(6000, 3))
    few = np.zeros((6000, 1))
    few[:20] = 7.0
    order = Features.by_rank(np.column_stack([normal, few, np.zeros(6000)])).order
    assert order[:3] == pytest.approx([1, 2, 3], rel=0.1)
    assert order[3] == pytest.approx(4 / (3 * 20 / 6000))
    assert order[4] == pytest.approx(5 / 1e-3)


def test_what_is_kept_holds_the_likeliest_level_not_a_draw_of_it() -> None:
    ratings = levels_alone()
    ratings = ratings.where(np.arange(len(ratings)) < 1500)
    channel = compile_channel("optimal", epsilon="0.5", scale="1:5:1")
    data = evidence(perturb(ratings, Rated(channel), words=RepeatableWordsForTestsOnly(1)))
    chain = gibbs.GibbsChain(data, 1, 0, [], 20, 0, Local(), InMemory())
    drawn, kept = [], []
    for sweep in range(60):
        chain.sweep()
        if sweep >= 20:
            drawn.append(chain.mu)
            chain.keep()
            kept.append(chain.draws[-1].mu)
    assert np.std(kept) < 0.6 * np.std(drawn)
    assert np.mean(kept) == pytest.approx(np.mean(drawn), abs=np.std(drawn))
