"""Models from released batches: the task about pairs, and the fitted model.

The estimates are those of the trainers that simulate all devices: `shuffled-ease` and
`shuffled-popularity`, and for star ratings `shuffled-covariance` and `shuffled-item-mean`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.collection.shuffled.counts import BucketCounts
from tacit.collection.shuffled.heads import following_round
from tacit.collection.shuffled.tasks import plain
from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import FittedLists
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.ratings import Ratings
from tacit.scale import THERE, RatingScale
from tacit.training.person.covariance import most_rated
from tacit.training.person.fitted_model import ItemSide, without_rows
from tacit.training.person.head_weights import head_weights
from tacit.training.shuffled.estimates import item_estimates, pair_estimates, popularity_weights
from tacit.training.shuffled.signed_estimates import (
    ShrunkMeans,
    factor_rows,
    item_sums,
    mean_thousandths,
    pair_sums,
    shrunk_means,
    with_factors,
)
from tacit.vocabulary import Vocabulary
from tacit.wire.shuffled.task import ITEMS, PAIRS, ShuffledTask


def pair_task(
    first: BucketCounts,
    *,
    key: bytes,
    closes: int,
    most_dummies: int,
    signer: bytes | None = None,
) -> ShuffledTask | None:
    """Return the announced task about pairs of the most frequent items.

    `first`: counts of the task about items. `key`: a new public key. `closes`: Unix seconds.
    `most_dummies`: most dummies of a device. `signer`: modulus of a new key for signed tokens, for
    a first task that has one, too. Returns None if the first task announced no round, or if pairs
    would not exceed their noise. Raises `RequestError` for counts of a task about pairs, and if one
    of both tasks alone has a signer, or both have the same.
    """
    task, announced = _about_items(first), first.task.announced
    if (signer is None) != (task.signer is None) or (signer and signer == task.signer):
        raise RequestError("signer must be a new key if the first task has a signer, else None.")
    if announced is None:
        return None
    signed, stars = task.scale is not None, _star_means(first)
    counts = item_estimates(first.counts, len(task.items)) if stars is None else stars.counts
    follows = following_round(
        counts,
        announced,
        bundles=first.bundles,
        devices=task.certificate.devices,
        most_dummies=most_dummies,
        signed=signed,
    )
    if follows is None:
        return None
    head = np.flatnonzero(most_rated(counts, follows.head))
    claim = task.certificate
    certificate = ShuffledCertificate.of(
        (claim.rounds[0], follows.round),
        bundles=claim.bundles,
        honest=claim.honest,
        delta=claim.delta,
        replaced=claim.replaced,
    )
    certificate.verify()
    return replace(
        task,
        about=PAIRS,
        items=tuple(task.items[index] for index in head),
        certificate=plain(certificate),
        key=key,
        closes=closes,
        first=task.address,
        signer=signer,
        means=None if stars is None else tuple(stars.thousandths[head].tolist()),
    )


def fit_counts(first: BucketCounts, second: BucketCounts | None = None) -> FittedLists | Fitted:
    """Return the model of a task about items, or with the task about pairs that follows it.

    They are popularity and EASE, and for star ratings item means, without and with factors. Raises
    `RequestError` for counts of other tasks.
    """
    task = _about_items(first)
    if second is not None and not second.task.is_announced_by(task):
        raise RequestError("The counts of pairs are not of the task that the first one announced.")
    # That of both rounds, whether or not the second one followed: counts decided it.
    guarantee, stars = task.certificate.guarantee, _star_means(first)
    return (
        _fitted_lists(first, second, guarantee)
        if stars is None
        else _fitted_stars(task, stars, second, guarantee)
    )


def _fitted_lists(
    first: BucketCounts, second: BucketCounts | None, guarantee: Guarantee
) -> FittedLists:
    items = first.task.items
    counts, catalogue = item_estimates(first.counts, len(items)), _catalogue(items, THERE)
    if second is None:
        popular = popularity_weights(counts)
        return without_rows("shuffled-popularity", catalogue, popular, guarantee)
    head = np.zeros(len(items), np.bool_)
    head[_indices(items, second.task)] = True
    weights = head_weights(counts, head, pair_estimates(second.counts, len(second.task.items)))
    return without_rows("shuffled-ease", catalogue, weights, guarantee)


class _StarMeans(NamedTuple):
    """Estimates of a task about star ratings. `half`: of the scale's range.

    `counts`: debiased messages of items, shape (items,). `thousandths`: means, shape (items,).
    """

    scale: RatingScale
    half: float
    counts: NDArray[np.float64]
    means: ShrunkMeans

    @property
    def thousandths(self) -> NDArray[np.int64]:
        return mean_thousandths(self.means, self.scale)


def _star_means(first: BucketCounts) -> _StarMeans | None:
    """Return the estimates of a task about items, None if it is not about star ratings."""
    scale = first.task.scale
    if scale is None:
        return None
    half = float(scale.high - scale.low) / 2
    sums = item_sums(first.counts, len(first.task.items))
    return _StarMeans(scale, half, sums.messages, shrunk_means(sums, half))


def _fitted_stars(
    task: ShuffledTask, stars: _StarMeans, second: BucketCounts | None, guarantee: Guarantee
) -> Fitted:
    catalogue, means = _catalogue(task.items, str(stars.scale)), stars.means
    if second is None:
        name, items = "shuffled-item-mean", means.biases[:, None]
    else:
        rows = factor_rows(pair_sums(second.counts, len(second.task.items)), stars.half)
        items = with_factors(means.biases, _indices(task.items, second.task), rows)
        name = "shuffled-covariance"
    return ItemSide(name, catalogue, means.mu, items).fitted(guarantee)


def _indices(items: Sequence[int | str], second: ShuffledTask) -> NDArray[np.int64]:
    """Return the index of each item of the second task in the catalogue."""
    index = {item: code for code, item in enumerate(items)}
    return np.array([index[item] for item in second.items], np.int64)


def _about_items(first: BucketCounts) -> ShuffledTask:
    if first.task.about != ITEMS:
        raise RequestError("The first counts must be of a task about items.")
    return first.task


def _catalogue(items: Sequence[int | str], scale: str) -> Ratings:
    """Return ratings of nobody: the provider has no user, and the catalogue is public."""
    none = np.empty(0, np.int32)
    return Ratings(
        users=none,
        items=none,
        levels=np.empty(0, np.uint8),
        scale=RatingScale.parse(scale),
        user_ids=Vocabulary(pl.Series("id", [], pl.Int64)),
        item_ids=Vocabulary(pl.Series("id", list(items))),
        name="shuffled messages",
        undeclared=frozenset(),
    )
