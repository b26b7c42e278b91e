"""EASE from noisy second moments: denoised, and shrunk to popularity.

Four of five users choose the ridge, the emphasis of popular items and the weight of public item
features by the squared error on the fifth. Weights of each four fifths are then evaluated on the
rest, which chooses the shrinkage, of devices and of the provider (`tacit.models.lists.shrinkage`).
For the provider, who scores noisy rows, a `ReportRegression` replaces the shrunk weights if its
error on the rest is smaller.

Features are a prior of the second moments. Items with the similarity S S' are expected to occur
together more often than at random, and G gains w times

    E_ij = n m_i m_j (S S')_ij

for n users and shares m. An item with few reports then has the weights of similar items. E has
known factors, sqrt(n) m_i S_i, which need no denoising.
"""

from dataclasses import replace
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.tuning import Tuning
from tacit.models.lists.co_occurrence import CoOccurrence
from tacit.models.lists.denoised import CoOccurrenceSpectrum, Precision, emphasised, spectrum
from tacit.models.lists.ease_solution import (
    HeldOutLoss,
    LowRankSolution,
    ReportRegression,
    retained,
    ridge_at,
    smallest_step,
)
from tacit.models.lists.item_weights import ItemWeights
from tacit.models.lists.shrinkage import (
    DEVICE,
    POPULARITY,
    PROVIDER,
    Blend,
    HeldOutSums,
    chosen_blend,
    held_out_sums,
    is_certain,
    judged_folds,
    report_gains,
)

Folds = NDArray[np.int64]
Doubles = NDArray[np.float64]
EMPHASES = (0.0, 0.25)
"""Emphases of popular items in denoising."""
PRIORS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Weights w of features."""


class _Choice(NamedTuple):
    """`loss`: least loss over all ridges at an emphasis and a weight of features, `prior`. `step`:
    the chosen ridge."""

    loss: float
    step: int
    emphasis: float
    prior: float


class _Weights(NamedTuple):
    """Weights for true rows, and two kinds for debiased reports."""

    device: LowRankSolution
    provider: LowRankSolution
    regression: ReportRegression


def at_ridge(everybody: CoOccurrence, ridge: float) -> ItemWeights:
    """Return denoised weights that are not shrunk; counts if nothing exceeds the noise."""
    counts = everybody.counts.astype(np.float32)
    factors = spectrum(everybody.gram, everybody.edge).denoised(everybody.edge)
    if not factors.shape[1]:
        return ItemWeights(popularity=counts)
    directions = LowRankSolution.of(factors, ridge).directions()
    return ItemWeights(popularity=np.zeros_like(counts), directions=directions)


def searched(
    presence: PresenceMatrix, fold: Folds, parts: list[CoOccurrence], similarity: Doubles
) -> Tuning:
    """Return the ridge, emphasis, prior and shrinkage by the error of held-out users.

    `fold`: of each user. `parts`: second moments of each fold. `similarity`: S, (items, d); d may
    be 0.
    """
    everybody = sum(parts[1:], parts[0])
    choice = _chosen(everybody - parts[0], parts[0], similarity)
    device: list[HeldOutSums] = []
    provider: list[HeldOutSums] = []
    gains: list[Doubles] = []
    for number in judged_folds(presence):
        known, held = everybody - parts[number], presence.where(fold == number)
        weights = _weights(known, choice, similarity, np.float32)
        mean, regression = known.counts / known.people, weights.regression
        device.append(held_out_sums(held, mean, weights.device.weights, noisy_rows=False))
        provider.append(held_out_sums(held, mean, weights.provider.weights, noisy_rows=True))
        gains.append(report_gains(held, mean, regression.offset(mean), regression.weights))
    shrunk_sums = HeldOutSums.over(provider)
    blend = chosen_blend(shrunk_sums, PROVIDER)
    return Tuning.of(
        presence,
        device=chosen_blend(HeldOutSums.over(device), DEVICE),
        provider=blend,
        regression=is_certain(gains, shrunk_sums.gain(blend, POPULARITY)[0]),
        step=choice.step,
        emphasis=choice.emphasis,
        prior=choice.prior,
    )


def shrunk(
    everybody: CoOccurrence,
    tuning: Tuning,
    similarity: Doubles,
    precision: Precision = np.float64,
) -> tuple[ItemWeights, ItemWeights]:
    """Return the weights of devices and those of the provider, shrunk to popularity.

    `similarity`: S, shape (items, d). `precision`: type of the computation.
    """
    device, provider = Blend(*tuning.device), Blend(*tuning.provider)
    if not device.weights and not provider.weights and not tuning.regression:
        return _popularity(everybody, device), _popularity(everybody, provider)
    weights = _weights(everybody, tuning, similarity, precision)
    return (
        _blended(everybody, weights.device, device),
        _regressed(everybody, weights.regression)
        if tuning.regression
        else _blended(everybody, weights.provider, provider),
    )


def prior_factors(moments: CoOccurrence, similarity: Doubles, weight: float) -> Doubles:
    """Return the factors of w E, shape (items, d); no columns for a weight of 0.

    Counts that are mostly noise are replaced by a least one, as in denoising.
    """
    if not weight:
        return similarity[:, :0]
    mean = max(float(moments.counts.mean()), 1.0)
    counts = mean * emphasised(moments.counts, 1.0)
    return np.sqrt(weight / max(moments.people, 1)) * counts[:, None] * similarity


def _chosen(known: CoOccurrence, held: CoOccurrence, similarity: Doubles) -> _Choice:
    """Return the ridge, emphasis and prior of least squared error, fitted to `known`.

    The prior is chosen at the best emphasis without one: the smallest that retains 99 % of the gain
    of the best, for the same reason as the ridge (`smallest_step`).
    """
    without = float(held.counts.sum())

    factors = {
        emphasis: _spectrum(known, emphasis, np.float32).denoised(known.edge)
        for emphasis in EMPHASES
    }

    def choice(emphasis: float, prior: float) -> _Choice:
        both = np.hstack([factors[emphasis], prior_factors(known, similarity, prior)])
        judge = HeldOutLoss.of(both, held.gram)

        @cache
        def loss(step: int) -> float:
            return judge.at(ridge_at(known, step))

        return _Choice(*smallest_step(loss, without), emphasis, prior)

    best = min(choice(emphasis, PRIORS[0]) for emphasis in EMPHASES)
    if not similarity.shape[1]:
        return best
    choices = [best, *(choice(best.emphasis, prior) for prior in PRIORS[1:])]
    bound = retained(min(choices).loss, without)
    return next(each for each in choices if each.loss <= bound)


class _Chosen(Protocol):
    """What a search chose: a `_Choice`, or the `Tuning` that has it."""

    @property
    def step(self) -> int: ...

    @property
    def emphasis(self) -> float: ...

    @property
    def prior(self) -> float: ...


def _weights(
    moments: CoOccurrence, chosen: _Chosen, similarity: Doubles, precision: Precision
) -> _Weights:
    """Return the weights of these users."""
    pairs = _spectrum(moments, chosen.emphasis, precision)
    expected = prior_factors(moments, similarity, chosen.prior)
    ridge, signal = ridge_at(moments, chosen.step), pairs.denoised(moments.spectral_edge)

    def solved(factors: Doubles, ridge: float) -> LowRankSolution:
        return LowRankSolution.of(np.hstack([factors, expected]), ridge)

    return _Weights(
        solved(pairs.denoised(moments.edge), ridge),
        solved(signal, ridge + moments.variance),
        ReportRegression.of(signal, moments, expected),
    )


def _spectrum(moments: CoOccurrence, emphasis: float, precision: Precision) -> CoOccurrenceSpectrum:
    return spectrum(moments.gram, moments.edge, emphasis, precision=precision)


def _blended(everybody: CoOccurrence, weights: LowRankSolution, blend: Blend) -> ItemWeights:
    """Return beta m + lambda x W, beta m alone if nothing exceeds the noise."""
    if not blend.weights or not weights.factors.shape[1]:
        return _popularity(everybody, blend)
    directions = weights.directions(blend.weights)
    return replace(_popularity(everybody, blend), directions=directions)


def _regressed(everybody: CoOccurrence, weights: ReportRegression) -> ItemWeights:
    """Return the weights of the provider, popularity alone if nothing exceeds the noise."""
    if not weights.spectrum.size:
        return _popularity(everybody, POPULARITY)
    offset = weights.offset(everybody.counts / everybody.people)
    return ItemWeights(popularity=offset.astype(np.float32), directions=weights.directions())


def _popularity(everybody: CoOccurrence, blend: Blend) -> ItemWeights:
    """Return beta m."""
    shares = blend.popularity * everybody.counts / everybody.people
    return ItemWeights(popularity=shares.astype(np.float32))
