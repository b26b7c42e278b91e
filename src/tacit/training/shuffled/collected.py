"""Lists from released batches: the task about pairs, and the fitted model.

The estimates are those of `shuffled-ease` and `shuffled-popularity`, which simulate all devices.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from tacit.errors import RequestError
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.shuffler.counts import BucketCounts
from tacit.shuffler.tasks import dummies_for, largest_head, plain
from tacit.training.person.covariance import most_rated
from tacit.training.person.fitted_model import without_rows
from tacit.training.person.head_weights import head_weights
from tacit.training.shuffled.estimates import head_size, item_estimates, pair_estimates
from tacit.vocabulary import Vocabulary
from tacit.wire.shuffled.round_terms import pairs_of
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
    counts = item_estimates(first.counts, len(task.items))
    size = head_size(
        counts,
        people=first.bundles,
        messages=announced.messages,
        density=announced.dummies * task.certificate.devices / announced.buckets,
        most=largest_head(announced, most_dummies, len(task.items)),
    )
    if pairs_of(size) < announced.buckets:
        return None
    head = np.flatnonzero(most_rated(counts, size))
    pairs = ShuffledRound(
        buckets=pairs_of(size),
        messages=announced.messages,
        dummies=dummies_for(announced, pairs_of(size)),
    )
    claim = task.certificate
    certificate = ShuffledCertificate.of(
        (claim.rounds[0], pairs),
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
    )


def fit_counts(first: BucketCounts, second: BucketCounts | None = None) -> FittedLists:
    """Return popularity from a task about items, or EASE with a task about pairs that follows it.

    Raises `RequestError` for counts of other tasks.
    """
    task = _about_items(first)
    counts = item_estimates(first.counts, len(task.items))
    if second is None:
        weights = ItemWeights(popularity=counts.astype(np.float32))
        guarantee = task.certificate.guarantee
        return without_rows("shuffled-popularity", _catalogue(task.items), weights, guarantee)
    if not second.task.is_announced_by(task):
        raise RequestError("The counts of pairs are not of the task that the first one announced.")
    index = {item: code for code, item in enumerate(task.items)}
    head = np.zeros(len(task.items), np.bool_)
    head[[index[item] for item in second.task.items]] = True
    weights = head_weights(counts, head, pair_estimates(second.counts, len(second.task.items)))
    guarantee = second.task.certificate.guarantee
    return without_rows("shuffled-ease", _catalogue(task.items), weights, guarantee)


def _about_items(first: BucketCounts) -> ShuffledTask:
    if first.task.about != ITEMS:
        raise RequestError("The first counts must be of a task about items.")
    return first.task


def _catalogue(items: Sequence[int | str]) -> Ratings:
    """Return ratings of nobody: the provider has no user, and the catalogue is public."""
    none = np.empty(0, np.int32)
    return Ratings(
        users=none,
        items=none,
        levels=np.empty(0, np.uint8),
        scale=RatingScale.parse("there"),
        user_ids=Vocabulary(pl.Series("id", [], pl.Int64)),
        item_ids=Vocabulary(pl.Series("id", list(items))),
        name="shuffled messages",
        undeclared=frozenset(),
    )
