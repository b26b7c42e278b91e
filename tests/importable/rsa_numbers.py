"""Public keys of signers, and the vector of RFC 9474, the same on every machine."""

from pathlib import Path
from random import Random

VECTOR = Path(__file__).parents[1] / "vectors" / "rfc9474.txt"


def modulus(seed: int) -> bytes:
    """An odd number of 3072 bits without small factors; nobody knows the others."""
    number = (1 << 3071) | Random(seed).getrandbits(3071) | 1
    while any(number % small == 0 for small in range(3, 10_000, 2)):
        number += 2
    return number.to_bytes(384, "big")


def official() -> dict[str, bytes]:
    """The vector of RFC 9474: n, inv, msg, salt, blinded_msg, blind_sig and sig."""
    named = (part.split("\n", 1) for part in VECTOR.read_text().split("\n\n")[1:])
    return {name: bytes.fromhex(digits) for name, digits in named}
