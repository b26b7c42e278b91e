"""EASE from noisy second moments: denoised, and shrunk to popularity.

Four of five users choose the ridge and the emphasis of popular items by the squared error on the
fifth. Weights of each four fifths are then evaluated on the rest, which chooses the shrinkage, of
devices and of the provider (`tacit.models.lists.shrinkage`).
"""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.tuning import Tuning
from tacit.models.lists.co_occurrence import CoOccurrence
from tacit.models.lists.denoised import CoOccurrenceSpectrum, Precision, spectrum
from tacit.models.lists.ease_solution import (
    HeldOutLoss,
    LowRankSolution,
    ridge_at,
    smallest_step,
)
from tacit.models.lists.item_weights import ItemWeights
from tacit.models.lists.shrinkage import (
    DEVICE,
    PROVIDER,
    Blend,
    HeldOutSums,
    chosen_blend,
    held_out_sums,
    judged_folds,
)

Folds = NDArray[np.int64]
EMPHASES = (0.0, 0.25)
"""Emphases of popular items in denoising."""


class _Choice(NamedTuple):
    """`loss`: least loss at an emphasis over all ridges. `step`: the chosen ridge."""

    loss: float
    step: int
    emphasis: float


class _Pair(NamedTuple):
    """Weights for true rows, and for debiased reports."""

    device: LowRankSolution
    provider: LowRankSolution


def at_ridge(everybody: CoOccurrence, ridge: float) -> ItemWeights:
    """Return denoised weights that are not shrunk; counts if nothing exceeds the noise."""
    counts = everybody.counts.astype(np.float32)
    factors = spectrum(everybody.gram, everybody.edge).denoised(everybody.edge)
    if not factors.shape[1]:
        return ItemWeights(popularity=counts)
    directions = LowRankSolution.of(factors, ridge).directions()
    return ItemWeights(popularity=np.zeros_like(counts), directions=directions)


def searched(presence: PresenceMatrix, fold: Folds, parts: list[CoOccurrence]) -> Tuning:
    """Return the ridge, the emphasis and the shrinkage by the error of held-out users.

    `fold`: of each user. `parts`: second moments of each fold.
    """
    everybody = sum(parts[1:], parts[0])
    choice = _chosen(everybody - parts[0], parts[0])
    device: list[HeldOutSums] = []
    provider: list[HeldOutSums] = []
    for number in judged_folds(presence):
        known, held = everybody - parts[number], presence.where(fold == number)
        weights = _weights(known, choice.step, choice.emphasis, np.float32)
        mean = known.counts / known.people
        device.append(held_out_sums(held, mean, weights.device.weights, noisy_rows=False))
        provider.append(held_out_sums(held, mean, weights.provider.weights, noisy_rows=True))
    return Tuning.of(
        presence,
        device=chosen_blend(HeldOutSums.over(device), DEVICE),
        provider=chosen_blend(HeldOutSums.over(provider), PROVIDER),
        step=choice.step,
        emphasis=choice.emphasis,
    )


def shrunk(
    everybody: CoOccurrence, tuning: Tuning, precision: Precision = np.float64
) -> tuple[ItemWeights, ItemWeights]:
    """Return the weights of devices and those of the provider, shrunk to popularity.

    `precision`: type of the computation.
    """
    device, provider = Blend(*tuning.device), Blend(*tuning.provider)
    if not device.weights and not provider.weights:
        return _popularity(everybody, device), _popularity(everybody, provider)
    weights = _weights(everybody, tuning.step, tuning.emphasis, precision)
    return (
        _blended(everybody, weights.device, device),
        _blended(everybody, weights.provider, provider),
    )


def _chosen(known: CoOccurrence, held: CoOccurrence) -> _Choice:
    """Return the ridge and emphasis of least squared error, fitted to `known`."""
    choices: list[_Choice] = []
    for emphasis in EMPHASES:
        factors = _spectrum(known, emphasis, np.float32).denoised(known.edge)
        judge = HeldOutLoss.of(factors, held.gram)

        @cache
        def loss(step: int, judge: HeldOutLoss = judge) -> float:
            return judge.at(ridge_at(known, step))

        choices.append(_Choice(*smallest_step(loss, float(held.counts.sum())), emphasis))
    return min(choices)


def _weights(moments: CoOccurrence, step: int, emphasis: float, precision: Precision) -> _Pair:
    """Return the weights of these users."""
    pairs = _spectrum(moments, emphasis, precision)
    ridge = ridge_at(moments, step)
    return _Pair(
        LowRankSolution.of(pairs.denoised(moments.edge), ridge),
        LowRankSolution.of(pairs.denoised(moments.spectral_edge), ridge + moments.variance),
    )


def _spectrum(moments: CoOccurrence, emphasis: float, precision: Precision) -> CoOccurrenceSpectrum:
    return spectrum(moments.gram, moments.edge, emphasis, precision=precision)


def _blended(everybody: CoOccurrence, weights: LowRankSolution, blend: Blend) -> ItemWeights:
    """Return beta m + lambda x W, beta m alone if nothing exceeds the noise."""
    if not blend.weights or not weights.factors.shape[1]:
        return _popularity(everybody, blend)
    directions = weights.directions(blend.weights)
    return replace(_popularity(everybody, blend), directions=directions)


def _popularity(everybody: CoOccurrence, blend: Blend) -> ItemWeights:
    """Return beta m."""
    shares = blend.popularity * everybody.counts / everybody.people
    return ItemWeights(popularity=shares.astype(np.float32))
