"""Well-formed documents with a few things changed, so that they get far into a reader."""

import base64
import copy
import json
import struct
from hashlib import sha256
from random import Random
from typing import Any

ATOMS: tuple[Any, ...] = (
    None, True, False, 0, -0.0, 1, -1, 2, 5, 64, 65, 1.5, 5.0, 1e3, 1e300, -1e-7, 1 << 53,
    (1 << 53) - 1, -(1 << 53), 10**30, 10**400, float("nan"), float("inf"), "", "0", "1", "5", "-1",
    "1.0", "0.5", "NaN", "1e5", "x", "ä", "\ud800", "x" * 201, "🎬" * 200, "9" * 41, "1:5:1",
    "0:65535:1", "0:65536:1", "1:5:1e-30", "rated", "catalogue", "sample:3", "cells", "linear",
    "user", "https://a.b", "https://a.b/", "tacit-task-1", "tacit-task-2", "ab" * 32, [], {}, [[]],
    ["1"], [1, 2], {"id": "a"}, [[[[[]]]]],
)  # fmt: skip
KEYS = ("format", "provider", "more", "__proto__", "0", "id", "refused", "scale", "epsilon", "ä")
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 3e38, -3e38, float("nan"), float("inf"), float("-inf"))


class Mutator:
    """Changes documents by chance of a seed: the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def text(self, good: str, *, spaced: bool) -> bytes:
        """A JSON document like `good`, in one spelling or, where `spaced`, in any."""
        value = json.loads(good)
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 3))):
            value = self._changed(value)
        self._relabel(value)
        written = self._written(value, spaced)
        if self.random.random() < 0.2:
            written = self._scratched(written)
        return written.encode(errors="surrogatepass")

    def model(self, good: dict[str, str]) -> bytes:
        """A published model like the parts of a good one."""
        header = self.text(good["header"], spaced=True)
        block = bytearray(base64.b64decode(good["block"]))
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            at = 4 * self.random.randrange(max(1, len(block) // 4))
            put = struct.pack("<f", self.random.choice(FLOATS))
            block[at : at + 4] = put if self.random.random() < 0.7 else self.random.randbytes(4)
        if self.random.random() < 0.1:
            block = block[: self.random.randrange(len(block) + 1)]
        length = len(header) + (self.random.random() < 0.05) * self.random.randrange(-5, 6)
        return good["magic"].encode() + max(length, 0).to_bytes(4, "little") + header + bytes(block)

    def _changed(self, value: Any) -> Any:
        """The value with something in it replaced, left out, repeated, moved or put in."""
        whole = copy.deepcopy(value)
        held = [one for one in _containers(whole) if one]
        if not held or self.random.random() < 0.03:
            return self._another(whole)
        place = self.random.choice(held)
        key = self.random.choice(list(place) if isinstance(place, dict) else range(len(place)))
        act = self.random.randrange(6)
        if act < 3:
            place[key] = self._another(place[key])
        elif act == 3:
            del place[key]
        elif isinstance(place, dict):
            place[self.random.choice(KEYS)] = self._another(place[key])
        else:
            place.insert(self.random.randrange(len(place) + 1), copy.deepcopy(place[key]))
        return whole

    def _another(self, value: Any) -> Any:
        kind = self.random.randrange(4)
        if kind == 0 and type(value) in (int, float) and abs(value) < 1 << 60:
            return value + self.random.choice((1, -1, 0.5, 1 << 53))
        if kind == 1 and isinstance(value, str) and value:
            at = self.random.randrange(len(value))
            return (
                value[:at]
                + self.random.choice(("", "0", "9", ".", "-", "ä", " "))
                + value[at + 1 :]
            )
        if kind == 2 and isinstance(value, list) and value:
            return value * self.random.choice((2, 3, 300))
        return copy.deepcopy(self.random.choice(ATOMS))

    def _relabel(self, value: Any) -> None:
        """Give tables that were changed their own id, or the certificate would never be asked."""
        if not isinstance(value, dict) or self.random.random() < 0.3:
            return
        channels = value.get("channels")
        for table in channels if isinstance(channels, list) else ():
            if isinstance(table, dict):
                try:
                    table["id"] = _identity(table)
                except (TypeError, KeyError, UnicodeEncodeError):
                    continue

    def _written(self, value: Any, spaced: bool) -> str:
        loose = spaced and self.random.random() < 0.8
        separators = (", ", ": ") if loose else (",", ":")
        return json.dumps(value, ensure_ascii=loose, separators=separators)

    def _scratched(self, text: str) -> str:
        """The text with a few characters changed, or a part of it repeated."""
        at = self.random.randrange(len(text) + 1)
        end = min(len(text), at + self.random.choice((0, 1, 1, 2, 30)))
        put = self.random.choice(
            ("", '"', "\\", "{", "[", "]", ",", ":", "0", "-", "e9", " ", text[at:end] * 2)
        )
        return text[:at] + put + text[end:]


def _containers(value: Any) -> list[Any]:
    if not isinstance(value, list | dict):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [value, *(found for one in inner for found in _containers(one))]


def _identity(table: dict[str, Any]) -> str:
    outputs = ("?" if one is None else one for one in table["outputs"])
    rows = (",".join(row) for row in table["weights"])
    missing = "1" if table["missing"] else "0"
    parts = ("tacit-channel-1", ",".join(table["levels"]), missing, ",".join(outputs))
    return sha256("\n".join((*parts, str(table["word_bits"]), *rows)).encode()).hexdigest()
