"""Sealing of shuffled messages: the shuffler mixes them, and only the provider reads them.

A message is its bucket in five bytes. Each is sealed alone to the public key of a task, with HPKE
(RFC 9180) in base mode: X25519, HKDF-SHA256, AES-128-GCM. `info` contains the address of the task,
so that a message for one task does not open as one for another. All sealed messages have 53 bytes:
a bundle's length depends on the number of messages alone. Requires the extra `secure`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tacit.channels.table import Words, secret_word
from tacit.device.profile import Item
from tacit.device.shuffled.bundle import draw_bundle, draw_pair_bundle
from tacit.device.shuffled.signs import OwnItems, are_ratings, check_kind, signed_bundle
from tacit.errors import RequestError
from tacit.wire.shuffled.round_terms import MESSAGE_BYTES
from tacit.wire.shuffled.task import ITEMS, KEY_BYTES, ShuffledTask

INFO = b"tacit-shuffle-1"


def sealed_bundle(task: ShuffledTask, items: OwnItems, words: Words = secret_word) -> bytes:
    """Return the sealed messages of one device to a task, in random order.

    `items`: ids of the user's items, or ratings by item id for a task about star ratings. Those
    that are not in the task are omitted. The length depends on the task alone. `words` is replaced
    in tests only. Raises `RequestError` as `check_kind`, `signed_bundle` and `seal`.
    """
    check_kind(task, items)
    if task.scale is not None and are_ratings(items):
        messages = signed_bundle(task, task.scale, items, words)
    else:
        messages = _bundle(task, items, words)
    return b"".join(seal(messages, task.key, task.address))


def _bundle(task: ShuffledTask, items: Iterable[Item], words: Words) -> list[int]:
    indices = {str(item): index for index, item in enumerate(task.items)}
    mine = sorted({indices[str(item)] for item in items if str(item) in indices})
    draw = draw_bundle if task.about == ITEMS else draw_pair_bundle
    return draw(mine, task.round, words)


def seal(messages: Sequence[int], public_key: bytes, address: str) -> list[bytes]:
    """Return each message sealed to the key of the task at `address`, in the same order.

    `messages`: buckets, of `tacit.device.shuffled.bundle.draw_bundle`. Sealing is randomized: a
    retry must send the bytes of the first call. Raises `RequestError` for a key that is not 32
    bytes of X25519, and without the extra `secure`.
    """
    suite = hpke_suite()
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    if len(public_key) != KEY_BYTES:
        raise RequestError(f"public_key must have {KEY_BYTES} bytes, got {len(public_key)}.")
    key, info = X25519PublicKey.from_public_bytes(public_key), sealing_info(address)
    return [
        suite.encrypt(message.to_bytes(MESSAGE_BYTES, "big"), key, info=info)
        for message in messages
    ]


def sealing_info(address: str) -> bytes:
    """Return the HPKE parameter `info` of the task at `address`."""
    return INFO + b"\n" + address.encode()


def hpke_suite() -> Any:
    """Return the HPKE suite. Raises `RequestError` without the extra `secure`."""
    try:
        from cryptography.hazmat.primitives import hpke
    except ImportError:
        raise RequestError(
            "Sealing messages requires cryptography 50 or later. Run pip install "
            "'tacit-recommender[secure]'."
        ) from None
    return hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
