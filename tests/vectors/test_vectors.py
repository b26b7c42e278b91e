"""The worked examples in this folder are what Python says today."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.task_key import TaskKey

HERE = Path(__file__).parent
MAKE = runpy.run_path(str(HERE / "make.py"))
HOSTILE = runpy.run_path(str(HERE / "hostile.py"))
BLIND = runpy.run_path(str(HERE / "blind_tokens.py"))
MOVES = runpy.run_path(str(HERE / "moves.py"))
SHUFFLED = {
    name: runpy.run_path(str(HERE / f"{name}.py")) for name in ("shuffled", "shuffled_stars")
}
FLOATS = {"numbers", "posteriors", "profiles"}


def same(old: Any, new: Any) -> bool:
    """Equal to the letter, but for floats, which another machine may round otherwise."""
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(same(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return len(old) == len(new) and all(map(same, old, new))
    if isinstance(old, float):
        return new == pytest.approx(old, rel=1e-12, abs=1e-12)
    return type(old) is type(new) and old == new


@pytest.mark.parametrize("name", list(MAKE["VECTORS"]))
def test_the_examples_are_what_python_says(name):
    """Run `python tests/vectors/make.py` after a change that is meant."""
    written, said = (HERE / f"{name}.json").read_text(encoding="utf-8"), MAKE["text_of"](name)
    if name not in FLOATS:
        assert written == said
    assert same(json.loads(written), json.loads(said))


def test_the_recipes_are_those_that_are_written_down():
    """Run `python tests/vectors/hostile.py` after a change that is meant."""
    assert (HERE / "hostile.json").read_text(encoding="utf-8") == HOSTILE["text"]()


def test_the_moves_are_what_python_says():
    """Run `python tests/vectors/moves.py` after a change that is meant."""
    text = MOVES["text"]()
    assert (HERE / "moves.json").read_text(encoding="utf-8") == text
    said = json.loads(text)
    verdicts = [one["verdict"] for one in said["tasks"]]
    assert min(map(verdicts.count, ("holds", "DataError", "CertificateError"))) > 5
    assert {one["holds"] for one in said["signatures"]} == {True, False}


@pytest.mark.parametrize(
    ("name", "kinds"), [("shuffled", ("tasks", "registers")), ("shuffled_stars", ("tasks",))]
)
def test_the_shuffled_examples_are_what_python_says(name, kinds):
    """Run `python tests/vectors/shuffled.py`, or the other file, after a change that is meant."""
    written = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    assert same(written, json.loads(SHUFFLED[name]["text"]()))
    for kind in kinds:
        verdicts = [one["verdict"] for one in written[kind]]
        assert min(map(verdicts.count, ("holds", "DataError", "CertificateError"))) > 0


def test_the_blind_signatures_are_what_python_says():
    """Run `python tests/vectors/blind_tokens.py` after a change that is meant."""
    written = (HERE / "blind_tokens.json").read_text()
    assert written == BLIND["text"]()
    valid = [each["valid"] for each in json.loads(written)["signatures"]]
    assert (valid.count(True), valid.count(False)) == (1, 11)


def test_messages_that_were_sealed_with_given_keys_open():
    """The provider's library opens what the formulas of RFC 9180 have sealed."""
    sealed = json.loads((HERE / "shuffled.json").read_text(encoding="utf-8"))["sealed"]
    key = TaskKey(X25519PrivateKey.from_private_bytes(bytes.fromhex(sealed["private"])))
    assert key.public.hex() == sealed["public"]
    batch, buckets = messages_of(bytes.fromhex(sealed["sealed"])), sealed["messages"]
    for message, bucket in zip(batch, buckets, strict=True):
        if bucket < 50_000:
            assert key.open([message], sealed["address"], 50_000).counts[bucket] == 1
        else:
            assert key.open([message], sealed["address"], 50_000).invalid == 1


def test_every_kind_of_verdict_is_among_them():
    for name in ("channels", "tasks"):
        verdicts = [one["verdict"] for one in json.loads((HERE / f"{name}.json").read_text())]
        assert min(map(verdicts.count, ("holds", "DataError", "CertificateError"))) > 0
