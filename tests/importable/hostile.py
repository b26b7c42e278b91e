"""Documents of a hostile provider, from the recipes in tests/vectors/hostile.json, and what reading
them comes to. tests/page/hostile.js is its twin."""

import base64
from collections.abc import Callable
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from tacit.device.list_profile import ListProfile
from tacit.errors import TacitError
from tacit.wire import replies
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel
from tacit.wire.shuffled import register, task
from tacit.wire.tasks.loading import loads

Recipe = dict[str, Any]


def text_of(parts: Any) -> bytes:
    """A text; or parts of one, each a text, some `hex`, a `text` so many `times`, or `numbers` from
    0 on, each in quotes."""
    if isinstance(parts, str):
        return parts.encode()
    return b"".join(_part(part) for part in parts)


def _part(part: Any) -> bytes:
    if isinstance(part, str):
        return part.encode()
    if "hex" in part:
        return bytes.fromhex(part["hex"])
    if "numbers" in part:
        return ",".join(f'"{k}"' for k in range(part["numbers"])).encode()
    return part["text"].encode() * part["times"]


def document(recipe: Recipe, bases: Recipe) -> bytes:
    """The document: its base with the first place of each text replaced by another one.

    Of a published model that is the header; `block` holds bytes to put at a place, to `append`, or
    how many to `cut`, and `length` what the header is said to have.
    """
    base = bases[recipe["base"]]
    is_model = isinstance(base, dict)
    text = (base["header"] if is_model else base).encode()
    for old, new in recipe.get("edits", ()):
        assert old.encode() in text, old
        text = text.replace(old.encode(), text_of(new), 1)
    if not is_model:
        return text
    length = recipe.get("length", len(text)).to_bytes(4, "little")
    whole = recipe.get("magic", base["magic"]).encode() + length + text + _block(base, recipe)
    return whole[: recipe.get("first", len(whole))]


def _block(base: Recipe, recipe: Recipe) -> bytes:
    block, change = bytearray(base64.b64decode(base["block"])), recipe.get("block", {})
    if "at" in change:
        put = bytes.fromhex(change["hex"])
        block[change["at"] : change["at"] + len(put)] = put
    block += bytes.fromhex(change.get("append", ""))
    return bytes(block[: len(block) - change.get("cut", 0)])


def ranked(model: ListModel) -> list[Any]:
    """The best of somebody who has every other item, with their scores."""
    return [list(pair) for pair in ListProfile(model, model.items[::2]).recommend(4)]


READERS: dict[str, Callable[[bytes], Any]] = {
    "task": lambda data: loads(data, sha256(data.rpartition(b"\n")[2]).hexdigest()).question,
    "model": lambda data: len(ItemModel.from_bytes(data).items),
    "list": lambda data: ranked(ListModel.from_bytes(data)),
    "tasks": replies.first_task,
    "newest": replies.newest_model,
    "refusals": replies.refused,
    "shuffled": lambda data: list(asdict(task.loads(data).certificate)["rounds"]),
    "register": lambda data: register.loads(data).head,
}


def verdict(kind: str, data: bytes) -> list[Any]:
    """What reading comes to: "holds" and something of what was read, or the kind of the error.

    Anything but a sentence of our own goes through, and fails the test.
    """
    try:
        return ["holds", READERS[kind](data)]
    except TacitError as error:
        kind, sentence = type(error).__name__, str(error)
    assert sentence.endswith("."), sentence
    assert len(sentence) < 600, sentence
    return [kind, None]
