"""Writes the worked examples of shuffled tasks about star ratings, which the Python device runs.

    PYTHONPATH=tests/importable python tests/vectors/shuffled_stars.py

The JavaScript device refuses all of them. A test holds the file to what Python says today.
"""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from hostile_recipes.bases import MAKE
from rsa_numbers import modulus
from shuffled_tasks import ITEMS, MEANS, SCALE, pair_task, star_task

from tacit.device.shuffled.signs import signed_bundle
from tacit.scale import RatingScale, shortest
from tacit.wire.shuffled.task import ShuffledTask

HERE = Path(__file__).parent
LAST = (1 << 64) - 1
SHUFFLED = runpy.run_path(str(HERE / "shuffled.py"))


def tasks() -> list[dict[str, Any]]:
    """Documents, good and forged, and what is read of the good ones."""
    first, signed = star_task(), star_task(signer=modulus(1))
    halves = star_task(None, scale=RatingScale.parse("0.5:5:0.5"))
    good = [first, signed, halves, pair_task(first), pair_task(signed, signer=modulus(2))]
    documents = [*(one.document.decode() for one in good), *_forged()]
    return [SHUFFLED["_read"](text) for text in documents]


def _forged() -> Iterator[str]:
    """Terms of star ratings that are malformed, or do not fit each other."""
    first, altered = star_task(), SHUFFLED["_altered"]
    for change in (
        {"format": "tacit-shuffled-1"}, {"format": "tacit-shuffled-2"}, {"scale": None},
        {"scale": "there"}, {"scale": "1.0:5:1"}, {"scale": "5:1:1"}, {"scale": 5},
        {"scale": f"0:1{'0' * 13}:1{'0' * 13}"}, {"means": []}, {"means": list(MEANS)},
        {"signer": "ab"}, {"items": list(range(14))},
    ):  # fmt: skip
        yield altered(first, **change)
    second = pair_task(first)
    rest = list(MEANS[1:7])
    for means in (None, rest, [999, *rest], [5001, *rest], [True, *rest], [3500.5, *rest]):
        yield altered(second, means=means)
    yield altered(second, rounds=[[28, 3, 40], [28, 2, 342]])
    for claim in ({"replaced": "0.5"}, {"empty": "0.5"}, {"delta": "0.001"}):
        yield altered(first, **claim)


def announced() -> list[dict[str, Any]]:
    """Second tasks, and whether the certificate of the first one covers them."""
    first, scale = star_task(), RatingScale.parse("0:5:1")
    other = star_task(scale=scale)
    pairs = [(first, pair_task(first)), (other, pair_task(first)), (first, pair_task(other))]
    pairs.append((first, pair_task(first, scale=scale)))
    return [
        {
            "first": before.document.decode(),
            "task": one.document.decode(),
            "announced": one.is_announced_by(before),
        }
        for before, one in pairs
    ]


def bundles() -> list[dict[str, Any]]:
    """Messages that are drawn from given words, of ratings by index of the item in the task."""
    rng, first = Random(3), star_task()
    halves = RatingScale.parse("0.5:5:0.5")
    zero = pair_task(first, ITEMS[:6], means=(3000,) * 6)
    known = [first, star_task(None, scale=halves), pair_task(first), zero]
    return [_drawn(one, size, rng) for one in known for size in (0, 1, 3, len(one.items))]


def _drawn(one: ShuffledTask, size: int, rng: Random) -> dict[str, Any]:
    scale = one.scale or SCALE
    rated = sorted(rng.sample(range(len(one.items)), size))
    levels = {index: rng.randrange(scale.n_levels) for index in rated}
    ratings = {str(one.items[index]): shortest(scale.levels[levels[index]]) for index in rated}
    words = [LAST if rng.random() < 0.05 else rng.getrandbits(64) for _ in range(1_500)]
    source = iter(words)
    messages = signed_bundle(one, scale, ratings, source.__next__)
    used = words[: len(words) - len(list(source))]
    return {
        "task": one.document.decode(),
        "ratings": ratings,
        "words": [str(word) for word in used],
        "messages": messages,
    }


def text() -> str:
    """The file: one example a line."""
    parts = []
    for made in (tasks, announced, bundles):
        lines = ",\n".join(map(MAKE["spelled"], made()))
        parts.append(f"{json.dumps(made.__name__)}: [\n{lines}\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    (HERE / "shuffled_stars.json").write_text(text(), encoding="utf-8")
