"""Writes the worked examples of blind signatures that both devices run.

    PYTHONPATH=tests/importable python tests/vectors/blind_tokens.py

The first one is that of RFC 9474, which `rfc9474.txt` has as it is printed. The others are what
Python says today, from fixed seeds; a test holds the file to it.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from rsa_numbers import modulus, official

from tacit.wire.shuffled.blind_tokens import blind, is_signed, unblinded

HERE = Path(__file__).parent


def blinded() -> list[dict[str, Any]]:
    """Tokens that are blinded with given salts and factors, that of RFC 9474 first."""
    rfc, rng = official(), Random(3)
    inverse, n = (int.from_bytes(rfc[key], "big") for key in ("inv", "n"))
    made = [(rfc["n"], rfc["msg"], rfc["salt"], pow(inverse, -1, n))]
    for seed in range(3):
        key = modulus(seed)
        factor = rng.randrange(1, int.from_bytes(key, "big"))
        made.append((key, rng.randbytes(32), rng.randbytes(48), factor))
    return [_blinded(*one) for one in made]


def _blinded(key: bytes, token: bytes, salt: bytes, factor: int) -> dict[str, Any]:
    made = blind(token, key, salt, factor)
    values = (key, token, salt, made.message, made.inverse)
    names = ("modulus", "token", "salt", "message", "inverse")
    hexadecimal = {name: value.hex() for name, value in zip(names, values, strict=True)}
    return {**hexadecimal, "factor": f"{factor:x}"}


def signatures() -> list[dict[str, Any]]:
    """The signature of RFC 9474, and others that are not valid."""
    rfc = official()
    key, token, right = rfc["n"], rfc["msg"], rfc["sig"]
    negative = int.from_bytes(key, "big") - int.from_bytes(right, "big")
    tried = [
        (token, right), (token, right[:-1] + bytes([right[-1] ^ 1])), (token, rfc["blind_sig"]),
        (token[:-1], right), (token, right[1:]), (token, b"\0" + right), (token, b""),
        (token, bytes(512)), (token, bytes(511) + b"\1"), (token, negative.to_bytes(512, "big")),
        (token, key), (token, b"\xff" * 512),
    ]  # fmt: skip
    return [
        {
            "modulus": key.hex(),
            "token": message.hex(),
            "signature": signature.hex(),
            "valid": is_signed(message, signature, key),
        }
        for message, signature in tried
    ]


def unblinding() -> dict[str, str]:
    """The unblinding of RFC 9474."""
    rfc = official()
    made = unblinded(rfc["msg"], rfc["n"], rfc["blind_sig"], rfc["inv"])
    return {
        "modulus": rfc["n"].hex(),
        "inverse": rfc["inv"].hex(),
        "token": rfc["msg"].hex(),
        "blind": rfc["blind_sig"].hex(),
        "signature": made.hex(),
    }


def text() -> str:
    """The file: one example a line."""
    parts = [
        f'"{made.__name__}": [\n' + ",\n".join(map(json.dumps, made())) + "\n]"
        for made in (blinded, signatures)
    ]
    return "{\n" + ",\n".join([*parts, f'"unblinding": {json.dumps(unblinding())}']) + "\n}\n"


if __name__ == "__main__":
    (HERE / "blind_tokens.json").write_text(text())
