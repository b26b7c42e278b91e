"""Shuffled task: one round of shuffled messages, immutable and addressed by its SHA-256.

A device verifies it from its numbers alone. A task about items may announce a round about pairs:
its certificate then covers both rounds, with the smallest head and the fewest dummies per bucket
that the second task may have. Whatever that task selects from counts of the first one, its loss is
at most the announced one, so the epsilon of the first task is that of both.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from tacit.errors import CertificateError, DataError, RequestError
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.scale import RatingScale, shortest
from tacit.wire import strict
from tacit.wire.origin import FORM, is_origin
from tacit.wire.report import LONGEST_UPLOAD
from tacit.wire.shuffled.blind_tokens import (
    MODULUS_BYTES,
    SIGNED_BYTES,
    TOKEN_BYTES,
    is_modulus,
    is_signed,
)
from tacit.wire.shuffled.round_terms import FIRST_FORM, bucket_flaws, star_flaws
from tacit.wire.strict import ENDS
from tacit.wire.tasks.catalogue import ITEM_ID_FORM, MOST_ITEMS, address_of, is_item_id, item_id

FORMAT, SIGNED_FORMAT, STAR_FORMAT = "tacit-shuffled-1", "tacit-shuffled-2", "tacit-shuffled-3"
"""Without and with signed tokens, and for star ratings, with or without tokens."""
KEYS = (
    "format", "name", "provider", "shuffler", "about", "items", "rounds", "first",
    "bundles", "honest", "delta", "replaced", "empty", "key", "closes",
)  # fmt: skip
STAR_TERMS = ("signer", "scale", "means")
SIGNED_KEYS, STAR_KEYS = (*KEYS, "signer"), (*KEYS, *STAR_TERMS)
FORMATS = {FORMAT: KEYS, SIGNED_FORMAT: SIGNED_KEYS, STAR_FORMAT: STAR_KEYS}
"""Keys of each format, in order."""
ITEMS, PAIRS = "items", "pairs"
SEALED_BYTES, KEY_BYTES = 53, 32
"""Bytes of a sealed message, and of a public key."""
LONGEST = 1 << 24
"""Most bytes of a task."""
WHAT = "The shuffled task"


@dataclass(frozen=True, kw_only=True)
class ShuffledTask:
    """A request for one bundle per person, of messages about `items` or pairs of them.

    `provider`: origin of who opens the messages. `shuffler`: origin to which bundles are sent.
    `about`: "items", with a bucket per item and unused ones after them, or "pairs", with a bucket
    per pair of the items and a decoy per item. `certificate`: of the round, after that of the first
    task or before the announced one, if any. `first`: address of the task that announced this
    round, None if it was not announced. `key`: the provider's public key of this task. `closes`:
    Unix seconds at which the batch is closed. `signer`: modulus of the provider's key for one-time
    tokens, of which each bundle requires one, None if it requires none. `scale`: of a task about
    star ratings, whose messages have a sign, None for a task about items alone. `means`: of the
    items of a task about signed pairs, in thousandths, None for all others
    (`tacit.wire.shuffled.round_terms`).

    Raises `RequestError` for an invalid task, with the reason.
    """

    name: str
    provider: str
    shuffler: str
    about: str
    items: tuple[int | str, ...]
    certificate: ShuffledCertificate
    key: bytes
    closes: int
    first: str | None = None
    signer: bytes | None = None
    scale: RatingScale | None = None
    means: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for wrong, sentence in self._flaws():
            if wrong:
                raise RequestError(f"This shuffled task is invalid: {sentence}.")

    @property
    def format(self) -> str:
        """The format of `document`, which follows from the signer and the scale."""
        if self.scale is not None:
            return STAR_FORMAT
        return FORMAT if self.signer is None else SIGNED_FORMAT

    @property
    def round(self) -> ShuffledRound:
        """The round of this task."""
        return self.certificate.rounds[0 if self.about == ITEMS else -1]

    @property
    def announced(self) -> ShuffledRound | None:
        """The announced round about pairs; None if none follows."""
        is_announced = self.about == ITEMS and len(self.certificate.rounds) == 2
        return self.certificate.rounds[1] if is_announced else None

    @property
    def bundle_bytes(self) -> int:
        """Length of every bundle."""
        return (self.round.messages + self.round.dummies) * SEALED_BYTES

    @property
    def request_bytes(self) -> int:
        """Length of every request: a bundle, and the signed token if the task requires one."""
        return self.bundle_bytes + (0 if self.signer is None else SIGNED_BYTES)

    @cached_property
    def document(self) -> bytes:
        """The task as one line of JSON, in the order of its keys: its unique notation."""
        claim, signer = self.certificate, self.signer and self.signer.hex()
        means = None if self.means is None else list(self.means)
        rounds = [[each.buckets, each.messages, each.dummies] for each in claim.rounds]
        values = (
            self.format, self.name, self.provider, self.shuffler, self.about, list(self.items),
            rounds, self.first, claim.bundles, claim.honest, claim.delta, claim.replaced,
            claim.empty, self.key.hex(), self.closes, signer, str(self.scale), means,
        )  # fmt: skip
        fields = dict(zip(FORMATS[self.format], values, strict=False))
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()

    @cached_property
    def address(self) -> str:
        """SHA-256 of `document`, 64 hexadecimal digits."""
        return address_of(self.document)

    def is_announced_by(self, first: "ShuffledTask") -> bool:
        """Return whether the certificate of `first` covers this round, too.

        The round has at most the announced messages, and at least its buckets and its dummies per
        bucket. Conditions, delta, epsilon and both origins are those of `first`, and both tasks
        require signed tokens, or neither does. Both have the same scale, or none.
        """
        announced, round = first.announced, self.round
        if announced is None or self.about != PAIRS or self.first != first.address:
            return False
        claim, before = self.certificate, first.certificate
        same = (
            (claim.rounds[0], before.rounds[0]),
            (claim.bundles, before.bundles),
            (Decimal(claim.honest), Decimal(before.honest)),
            (Decimal(claim.delta), Decimal(before.delta)),
            ((self.provider, self.shuffler), (first.provider, first.shuffler)),
            (self.signer is None, first.signer is None),
            (self.scale, first.scale),
        )
        return (
            all(one == other for one, other in same)
            and Decimal(claim.replaced) <= Decimal(before.replaced)
            and round.messages <= announced.messages
            and round.buckets >= announced.buckets
            and round.dummies * announced.buckets >= announced.dummies * round.buckets
        )

    def _flaws(self) -> Iterator[tuple[bool, str]]:
        n, rounds = len(self.items), len(self.certificate.rounds)
        about_pairs, signed = self.about == PAIRS, self.scale is not None
        for what, origin in (("provider", self.provider), ("shuffler", self.shuffler)):
            yield (
                not is_origin(origin),
                f"the {what} '{origin[:60]}' is not an origin; write {FORM}",
            )
        yield from (
            (
                not 0 < len(self.name) <= 200,
                f"its name must have 1 to 200 characters, got {len(self.name)}",
            ),
            (
                self.provider == self.shuffler,
                "the provider and the shuffler must have different origins",
            ),
            (self.about not in (ITEMS, PAIRS), "it must be about items or pairs"),
            (not 0 < n <= MOST_ITEMS, f"it must have 1 to {MOST_ITEMS} items, got {n}"),
            (not all(map(is_item_id, self.items)), ITEM_ID_FORM),
            (len(set(map(str, self.items))) != n, "an item id occurs twice"),
            (len(set(map(type, self.items))) > 1, "item ids must be all numbers or all strings"),
            (rounds > 2, f"it must have one or two rounds, got {rounds}"),
        )
        follows = about_pairs and rounds == 2
        yield from bucket_flaws(n, self.round.buckets, about_pairs=about_pairs, signed=signed)
        yield (self.first is not None) != follows, FIRST_FORM
        yield from star_flaws(self.scale, self.means, n, about_pairs=about_pairs)
        yield from (
            (
                self.request_bytes > LONGEST_UPLOAD,
                f"a bundle must have at most {LONGEST_UPLOAD // SEALED_BYTES} messages, or "
                f"{(LONGEST_UPLOAD - SIGNED_BYTES) // SEALED_BYTES} with a signed token",
            ),
            (len(self.key) != KEY_BYTES, f"its key must have {KEY_BYTES} bytes"),
            (not 0 < self.closes < ENDS, "it must close at a time in Unix seconds"),
            (
                self.signer is not None and not is_modulus(self.signer),
                f"its signer must be an odd number of {8 * MODULUS_BYTES} bits",
            ),
        )


def is_signed_token(signed: bytes, task: ShuffledTask) -> bool:
    """Return whether these bytes are a token with its signature, as the task requires.

    For a task that requires no token, they must be empty.
    """
    if task.signer is None:
        return not signed
    return is_signed(signed[:TOKEN_BYTES], signed[TOKEN_BYTES:], task.signer)


def is_shuffled_task(document: bytes) -> bool:
    """Return whether a document begins as a shuffled task does. The rest is not verified."""
    return document.startswith(tuple(f'{{"format":"{each}"'.encode() for each in FORMATS))


def loads(document: bytes, address: str | None = None) -> ShuffledTask:
    """Parse a shuffled task and verify its certificate. None of its claims is trusted.

    `address`: the requested address. Raises `DataError` if the document is malformed or not in its
    unique notation, `CertificateError` if it does not match the address or its numbers do not prove
    its epsilons.
    """
    if address is not None and address_of(document) != address:
        raise CertificateError(
            f"The shuffled task does not match its address {address[:64]}: it was changed in "
            "transit."
        )
    fields = strict.fields(strict.parse(document, WHAT, LONGEST), WHAT, KEYS, STAR_TERMS)
    if (fields["format"], set(fields)) not in [(each, set(keys)) for each, keys in FORMATS.items()]:
        raise DataError(
            f"The format of a shuffled task must be one of {', '.join(FORMATS)}, with its keys."
        )
    try:
        task = _task(fields)
        canonical = task.document
    except (RequestError, UnicodeEncodeError) as error:
        reason = str(error)[:400].removesuffix(".")
        raise DataError(f"The shuffled task is malformed: {reason}.") from None
    if canonical != document:
        raise DataError("The shuffled task is not in the canonical form.")
    task.certificate.verify()
    return task


def _task(fields: dict[str, Any]) -> ShuffledTask:
    def decimal(key: str) -> str:
        (text,) = strict.listed([fields[key]], key, _decimal, WHAT)
        return text

    certificate = ShuffledCertificate(
        rounds=strict.listed(fields["rounds"], "rounds", _round, WHAT, 2),
        bundles=strict.integer(fields, "bundles", WHAT),
        **{key: decimal(key) for key in ("honest", "delta", "replaced", "empty")},
    )
    (key,) = strict.listed([fields["key"]], "key", _hexadecimal(KEY_BYTES), WHAT)
    signer, scale, means = (fields.get(name) for name in STAR_TERMS)
    if scale is not None:
        scale = RatingScale.parse(strict.typed(fields, "scale", str, WHAT))
    if signer is not None:
        (signer,) = strict.listed([signer], "signer", _hexadecimal(MODULUS_BYTES), WHAT)
    if means is not None:
        means = strict.listed(means, "means", strict.integral, WHAT, MOST_ITEMS)
    return ShuffledTask(
        name=strict.typed(fields, "name", str, WHAT),
        provider=strict.typed(fields, "provider", str, WHAT),
        shuffler=strict.typed(fields, "shuffler", str, WHAT),
        about=strict.typed(fields, "about", str, WHAT),
        items=strict.listed(fields["items"], "items", item_id, WHAT, MOST_ITEMS),
        certificate=certificate,
        key=key,
        closes=strict.integer(fields, "closes", WHAT),
        first=None if fields["first"] is None else strict.typed(fields, "first", str, WHAT),
        signer=signer,
        scale=scale,
        means=means,
    )


def _round(value: Any) -> ShuffledRound:
    numbers = strict.listed(value, "rounds", strict.integral, WHAT, 3)
    if len(numbers) != 3:
        raise strict.wrong(value)
    buckets, messages, dummies = numbers
    return ShuffledRound(buckets=buckets, messages=messages, dummies=dummies)


def _decimal(value: Any) -> str:
    if shortest(strict.number(value)) != value:
        raise strict.wrong(value)
    return value


def _hexadecimal(size: int) -> Callable[[Any], bytes]:
    return lambda value: strict.hexadecimal(value, size)
