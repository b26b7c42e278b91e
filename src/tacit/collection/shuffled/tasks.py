"""Shuffled tasks of a plan, as a provider writes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from tacit.collection.shuffled.heads import announced_round, dummies_for, largest_head
from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.errors import RequestError
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.scale import RatingScale, shortest
from tacit.wire.shuffled.round_terms import pair_buckets_of
from tacit.wire.shuffled.task import ITEMS, SEALED_BYTES, ShuffledTask

MOST_DUMMIES = 2000
"""Default for the most dummies of a device about pairs."""


@dataclass(frozen=True, kw_only=True)
class Origins:
    """Who takes part: the origins of the provider and the shuffler, and the name of the task."""

    provider: str
    shuffler: str
    name: str


def item_task(
    plan: ShuffledPlan,
    items: Sequence[int | str],
    origins: Origins,
    *,
    key: bytes,
    closes: int,
    most_dummies: int = MOST_DUMMIES,
    signer: bytes | None = None,
    scale: RatingScale | None = None,
) -> ShuffledTask:
    """Return the task about items of a plan, which announces a round about pairs if it can.

    `items`: ids of the catalogue. `key`: the provider's public key. `closes`: Unix seconds.
    `most_dummies`: most dummies of a device about pairs. If the smallest head requires more, the
    task is the only one. `signer`: modulus of the key with which the provider signs one token per
    customer, None for a task without tokens. `scale`: of star ratings, for a plan whose messages
    have a sign, None for others. Raises `RequestError` for an invalid task.
    """
    if plan.signed != (scale is not None):
        raise RequestError("scale must be given exactly if the plan is signed.")
    announced = announced_round(plan, most_dummies)
    rounds = [plan.only_round()] if announced is None else [plan.item_round(), announced]
    return ShuffledTask(
        name=origins.name,
        provider=origins.provider,
        shuffler=origins.shuffler,
        about=ITEMS,
        items=tuple(items),
        certificate=plain(plan.certificate(rounds)),
        key=key,
        closes=closes,
        signer=signer,
        scale=scale,
    )


def plain(claim: ShuffledCertificate) -> ShuffledCertificate:
    """Return the certificate with decimal strings in plain notation, as a task has them."""
    return replace(
        claim,
        **{
            key: shortest(Decimal(getattr(claim, key)))
            for key in ("honest", "delta", "replaced", "empty")
        },
    )


class BundleSizes(NamedTuple):
    """Messages of a device in both rounds. `head`: items of the largest head, 0 without pairs."""

    items: int
    head: int
    pairs: int

    @property
    def size(self) -> int:
        """Bytes of both bundles."""
        return (self.items + self.pairs) * SEALED_BYTES


def bundle_sizes(plan: ShuffledPlan, most_dummies: int = MOST_DUMMIES) -> BundleSizes:
    """Return the bundles of a plan, with the largest head that a task about pairs may have.

    `most_dummies`: most dummies of a device about pairs.
    """
    announced = announced_round(plan, most_dummies)
    first = plan.only_round() if announced is None else plan.item_round()
    items = first.messages + first.dummies
    if announced is None:
        return BundleSizes(items, 0, 0)
    head = largest_head(announced, most_dummies, plan.items, signed=plan.signed)
    buckets = pair_buckets_of(head, signed=plan.signed)
    return BundleSizes(items, head, announced.messages + dummies_for(announced, buckets))
