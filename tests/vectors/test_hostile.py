"""A document of a hostile provider costs a device a sentence, and no more memory than it may."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hostile import document, verdict

TABLE = json.loads(Path(__file__).with_name("hostile.json").read_text(encoding="utf-8"))
BASES = TABLE["bases"]
MOST_BYTES = 64 << 20
KINDS = sorted({recipe["kind"] for recipe in TABLE["refused"]})


def read(recipe):
    return verdict(recipe["kind"], document(recipe, BASES))


def test_there_are_as_many_as_it_takes():
    counts = {kind: sum(each["kind"] == kind for each in TABLE["refused"]) for kind in KINDS}
    assert min(counts.values()) > 10
    assert counts["task"] > 200
    assert counts["model"] > 60


@pytest.mark.parametrize("kind", KINDS)
def test_every_one_is_refused_with_a_sentence(kind):
    """What is raised is ours: anything else goes through `verdict`."""
    for recipe in TABLE["refused"]:
        if recipe["kind"] == kind:
            assert read(recipe)[0] in ("DataError", "CertificateError"), recipe


def test_what_says_nothing_gives_nothing_up():
    for recipe in TABLE["unsaid"]:
        assert read(recipe) == ["holds", None], recipe


def test_what_is_well_formed_is_taken():
    for recipe in TABLE["taken"]:
        assert read(recipe)[0] == "holds", recipe
        assert read(recipe)[1] is not None or recipe["why"] == "none asked"


@pytest.mark.long
def test_none_takes_more_memory_than_it_may():
    """The document itself is counted, as a device has to fetch it first."""
    for recipe in TABLE["refused"]:
        data = document(recipe, BASES)
        tracemalloc.start()
        try:
            verdict(recipe["kind"], data)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(data) + most < MOST_BYTES, recipe["why"]
