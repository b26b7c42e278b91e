"""List models whose header or block is not what it says."""

import base64
from typing import Any

from hostile_recipes.bases import BROKEN, DEEP, DIGITS, MANY, STEEP, bases, list_model, parts
from hostile_recipes.models import HIDDEN

N, K, E = 12, 3, 2
VECTORS = 3 * 4 * N + 4 * K
PLACES = VECTORS + 2 * N * K
WEIGHTS = PLACES + 2 * N * E
"""Where the parts of the sparse model's block begin."""


def headers() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    numbers: list[Any] = ["-1", "1.5", "1e400", "true", '"3"', "NaN", "null", "[]", "1025", DIGITS]
    for each in [*numbers, "0", "2", "4", "1024"]:
        found.append(list_model("factors", '"factors": 3', ['"factors": ', *parts(each)]))
    for each in [*numbers, "0", "1", "3", "11", "12", "13", "1e9"]:
        found.append(list_model("neighbours", '"neighbours": 2', ['"neighbours": ', *parts(each)]))
    for each in ["0", "11", "13"]:
        found.append(list_model("dense", '"neighbours": 12', f'"neighbours": {each}', "dense"))
    for each in ("null", "1.5", str(1 << 53), '""', '"b"', "[0]", '"\\ud800"', "0, 0", "100, 0"):
        found.append(list_model("an item", '"items": [0', f'"items": [{each}'))
    for old, new in (
        ('"factors": 3, ', ""),
        ('"factors": 3', '"factors": 3, "factors": 3'),
        ('"factors": 3', '"factors": 3, "scale": "1:5:1"'),
        ('"unit": "none"', '"unit": "x"'),
        ('"guarantee": {', '"guarantee": [{'),
        ('"exact": false', '"exact": 0'),
    ):
        found.append(list_model("header", old, new))
    for why, tower in (("deep", DEEP), ("steep", STEEP), ("lists", MANY), ("broken", BROKEN)):
        for key in ('"released": ', '"factors": '):
            found.append(list_model(f"{key}{why}", key, [key, *tower, ", "]))
    header = bases()["sparse"]["header"]
    items = header[: header.index(', "factors"')]
    found.append(list_model("no items", items, '{"items": []', block={"cut": WEIGHTS + 2 * N * E}))
    return found


def hidden() -> list[dict[str, Any]]:
    """Hidden items that are none, and formats without or with them by their first line alone."""
    listed, base = '"hidden": [2, 3]', "hiding list"
    return [
        *(list_model("hidden", listed, ['"hidden": ', *parts(each)], base) for each in HIDDEN),
        list_model("hidden nowhere", f", {listed}", "", base),
        list_model("hidden in a former format", base=base, magic="tacit-list-model-1\n"),
        list_model("hidden without a format", base=base, magic="tacit-list-model-3\n"),
    ]


def blocks() -> list[dict[str, Any]]:
    """What follows a header, and what comes before it."""
    size = len(base64.b64decode(bases()["sparse"]["block"]))
    assert size == WEIGHTS + 2 * N * E
    found = [list_model("block", block={"cut": cut}) for cut in (1, 2, 4, size)]
    found += [list_model("block", block={"append": "00" * count}) for count in (1, 2, 400)]
    singles = (0, 4 * N, 8 * N, 12 * N, VECTORS - 4)
    for at in singles:
        found += [
            list_model("a single", block={"at": at, "hex": hex}) for hex in ("0000c07f", "000080ff")
        ]
    for at in (VECTORS, PLACES - 2, WEIGHTS, size - 2):
        for hex in ("007c", "00fc", "007e", "01fc", "ffff"):
            found.append(list_model("a half", block={"at": at, "hex": hex}))
    more = {"append": "00" * 2 * N}
    found.append(
        list_model("13 of 12", '"neighbours": 12', '"neighbours": 13', "dense", block=more)
    )
    for hex in ("007c", "ff7f"):
        found.append(list_model("a dense half", base="dense", block={"at": 4 * N, "hex": hex}))
    for at, hex in (
        (PLACES, "01000100"),
        (PLACES, "02000100"),
        (PLACES, "00000c00"),
        (PLACES, "0000ffff"),
        (WEIGHTS - 4, "0b000b00"),
        (WEIGHTS - 4, "0c000b00"),
        (WEIGHTS - 2, "0c00"),
    ):
        found.append(list_model("places", block={"at": at, "hex": hex}))
    found += [list_model("length", length=length) for length in (0, 1, 100, (1 << 32) - 1)]
    found += [list_model("first bytes", first=count) for count in (0, 1, 18, 19, 21, 23, 30)]
    magics = ("", "tacit-list-model-2\n", "tacit-item-model-1\n")
    return found + [list_model("magic", magic=magic) for magic in magics]
