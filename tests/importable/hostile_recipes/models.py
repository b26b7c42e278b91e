"""Item models whose header or block is not what it says."""

import base64
from typing import Any

from hostile_recipes.bases import BROKEN, DEEP, DIGITS, MANY, STEEP, bases, model, parts


def headers() -> list[dict[str, Any]]:
    numbers: list[Any] = [
        "-1",
        "1.5",
        "1e9",
        "1e400",
        "true",
        '"3"',
        "NaN",
        "Infinity",
        "null",
        "[]",
        "1025",
        ["1", {"text": "0", "times": 400}],
        DIGITS,
        "4",
        "1e999999999",
    ]
    found = [model("factors", '"factors": 3', ['"factors": ', *parts(each)]) for each in numbers]
    for each in [*numbers[:-2], "0", "2"]:
        found.append(model("features", '"features": 3', ['"features": ', *parts(each)]))
    found.append(model("features of nothing", '"features": 0', '"features": 1', "linear"))
    reals: list[Any] = ["-1", "0", "1e400", "NaN", "-Infinity", "true", '"1"', "null", DIGITS]
    for each in reals:
        found.append(model("sigma", '"sigma": 0.85', ['"sigma": ', *parts(each)]))
    found.append(model("sigma of no cells", '"sigma": 0.0', '"sigma": 0.5', "linear"))
    for each in (
        "[]",
        "[NaN, 3]",
        "[1e999, 3]",
        '["3", 3]',
        "[null, 3]",
        "[true, 3]",
        "3",
        "[3]",
        "[3, 3, 3]",
    ):
        found.append(model("mu", mu(), f'"mu": {each}'))
    found.append(model("mu of many", mu(), ['"mu": [', {"text": "3, ", "times": 32}, "3]"]))
    for each in ('"linear"', '"tells"', "1", '["cells"]', "null"):
        found.append(model("link", '"link": "cells"', f'"link": {each}'))
    for each in (
        "null",
        "1.5",
        str(1 << 53),
        '""',
        '"b"',
        "[0]",
        "true",
        '"\\ud800"',
        '"' + "x" * 201 + '"',
    ):
        found.append(model("an item", '"items": [0', f'"items": [{each}'))
    found.append(
        model("items", '"items": [0', ['"items": [', {"text": "0, ", "times": 1_000_000}, "0"])
    )
    found.append(model("a number of items", '"items": [0', '"items": [100, 0'))
    return found


def mu() -> str:
    header = bases()["cells"]["header"]
    return header[header.index('"mu"') : header.index(', "features"')]


def targets() -> list[dict[str, Any]]:
    """Target domains that are none, and cuts that are no cuts."""
    target = '"target": {"first": 5, "cuts": [2.5, 2.75, 2.75, 3.25]}'
    firsts = ["0", "-1", "12", "13", "5.5", '"5"', "null", "true", "1e400", "[5]"]
    cuts: list[Any] = [
        "[2.5]", "[2.5, 2.75, 2.7, 3.25]", "[2.5, 2.75, 2.75, NaN]", "[2.5, 2.75, 2.75, 1e400]",
        '[2.5, 2.75, 2.75, "4"]', "[2.5, 2.75, 2.75, 3.25, 4]", "null", "3", "{}",
        ["[", {"text": "1, ", "times": 1024}, "1]"],
    ]  # fmt: skip
    found = [
        model("target", target, f'"target": {each}', "across")
        for each in ("null", "[]", "5", "{}", '{"first": 5}', '{"first": 5, "cuts": [], "last": 9}')
    ]
    found += [model("first", '"first": 5', f'"first": {each}', "across") for each in firsts]
    found += [
        model("titles", "3.25]", f'3.25], "titles": {each}', "across")
        for each in ("null", '["a"]', '"a"', "[1, 2, 3, 4, 5, 6, 7]", '{"a": 1}')
    ]
    return found + [
        model("cuts", '"cuts": [2.5, 2.75, 2.75, 3.25]', ['"cuts": ', *parts(each)], "across")
        for each in cuts
    ]


HIDDEN: tuple[Any, ...] = (
    "[]", "[3, 2]", "[2, 2]", "[-1, 3]", "[2, 12]", "[2, 1e9]", "[2.5, 3]", "null", "2", '["2", 3]',
    "[true, 3]", "[2, NaN]", "[2, 1e400]", "{}", ["[", {"text": "1, ", "times": 13}, "1]"],
)  # fmt: skip
"""Lists of hidden items that are none, of 12 items."""


def hidden() -> list[dict[str, Any]]:
    """Hidden items that are none, and formats without or with them by their first line alone."""
    listed = '"hidden": [2, 3]'
    return [
        *(model("hidden", listed, ['"hidden": ', *parts(each)], "hiding") for each in HIDDEN),
        model("hidden twice", listed, f"{listed}, {listed}", "hiding"),
        model("hidden nowhere", f", {listed}", "", "hiding"),
        model("hidden in a former format", base="hiding", magic="tacit-item-model-3\n"),
        model("hidden without a format", base="hiding", magic="tacit-item-model-5\n"),
        model("an exposure", '"exposure": null', '"exposure": {}', "hiding"),
    ]


def promises() -> list[dict[str, Any]]:
    presence = '"presence": {"log_mean": 1.4, "log_scale": 0.7, "damping": 2.0}'
    found = [
        model("presence", presence, f'"presence": {each}')
        for each in (
            "null",
            "false",
            "{}",
            "[]",
            '{"log_mean": 1.4, "log_scale": 0.7}',
            '{"log_mean": 1.4, "log_scale": 0.7, "damping": 2.0, "more": 1}',
            '{"log_mean": 1.4, "log_scale": 0, "damping": 2.0}',
            '{"log_mean": 1.4, "log_scale": -0.7, "damping": 2.0}',
            '{"log_mean": 1.4, "log_scale": 0.7, "damping": -2.0}',
            '{"log_mean": 1e999, "log_scale": 0.7, "damping": 2.0}',
            '{"log_mean": NaN, "log_scale": 0.7, "damping": 2.0}',
            '{"log_mean": "1.4", "log_scale": 0.7, "damping": 2.0}',
            '{"log_mean": 1.4, "log_mean": 1.4, "log_scale": 0.7, "damping": 2.0}',
        )
    ]
    found.append(model("presence without", '"presence": null', presence, "linear"))
    for old, new in (
        ('"epsilon": null', '"epsilon": 1'),
        ('"epsilon": null, ', ""),
        ('"unit": "none"', '"unit": "x"'),
        ('"unit": "none"', '"unit": ["none"]'),
        ('"trust": "everybody"', '"trust": null'),
        ('"exact": false', '"exact": 0'),
        ('"exact": false', '"exact": false, "more": 1'),
        ('"exact": false', '"exact": false, "exact": false'),
        ('"exact": false', '"exact": false, "empty": 1'),
        ('"exact": false', '"exact": false, "uncovered": "x"'),
        ('"exact": false', '"exact": false, "uncovered": [1]'),
        ('"public": []', '"public": "x"'),
        ('"public": []', '"public": [1]'),
        ('"assumptions": []', '"assumptions": {}'),
        ('"fails": null', '"fails": 1'),
        ('"delta": "0"', '"delta": 0'),
        ('"released": "every true rating"', '"released": "\\ud800"'),
        ('"guarantee": {', '"guarantee": [{'),
        ('"scale": "1:5:1"', '"scale": "1.0:5:1"'),
        ('"scale": "1:5:1"', '"scale": "1:5:1", "scale": "1:5:1"'),
        ('"scale": "1:5:1"', '"scale": "1:5:1", "more": 1'),
        ('"scale": "1:5:1", ', ""),
    ):
        found.append(model("header", old, new))
    for why, tower in (("deep", DEEP), ("steep", STEEP), ("lists", MANY), ("broken", BROKEN)):
        for key in ('"released": ', '"scale": ', '"factors": '):
            found.append(model(f"{key}{why}", key, [key, *tower, ", "]))
    return found


def blocks() -> list[dict[str, Any]]:
    """What follows a header, and what comes before it."""
    size = len(base64.b64decode(bases()["cells"]["block"]))
    first = 4 * (12 + 36)  # where the first draw's precision begins
    nothing = {"cut": size}
    found = [model("block", block={"cut": cut}) for cut in (1, 4, 8, size)]
    found += [model("block", block={"append": "00" * count}) for count in (1, 4, 400)]
    for at, hex in (
        (0, "0000c07f"),
        (size - 4, "0000807f"),
        (8, "000080ff"),
        (size - 4, "ffffffff"),
        (first, "00000000"),
        (first, "00000080"),
        (first + 12, "000080bf"),
    ):
        found.append(model("block", block={"at": at, "hex": hex}))
    found += [model("length", length=length) for length in (0, 1, 100, 1 << 31, (1 << 32) - 1)]
    found += [model("first bytes", first=count) for count in (0, 1, 18, 19, 21, 23, 30)]
    found += [
        model("magic", magic=magic)
        for magic in (
            "",
            "tacit-item-model-2\n",
            "tacit-item-model-3\n",
            "tacit-item-model-4\n",
            "TACIT",
        )
    ]
    found.append(model("magic", base="shrinking", magic="tacit-item-model-1\n"))
    factors, precision = 4 * 12, 4 * 12 + 2 * 36  # where they begin in the first draw
    shrinkage = precision + 4 * (4 + 12)
    found += [
        model("shrinkage", base="shrinking", block={"at": shrinkage + 8, "hex": hex})
        for hex in ("000080bf", "0000c07f", "0000807f")
    ]
    found += [
        model("a half", base="shrinking", block={"at": at, "hex": hex})
        for at in (factors, precision - 2)
        for hex in ("007e", "007c", "00fc")
    ]
    found.append(model("shrinkage", base="shrinking", block={"cut": 4}))
    found.append(model("nothing to multiply", '"factors": 3', '"factors": 1024', block=nothing))
    return found
