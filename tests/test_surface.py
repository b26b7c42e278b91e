"""The first minute: names can be found, versions asked for, and ids are ids."""

import contextlib
import inspect
import re
import runpy
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import RequestError, fit, from_frame

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_listed_and_there():
    assert dir(tacit) == sorted([*tacit.__all__, "__version__"])
    assert {"fit", "load", "evaluate", "choose_channel", "fold_in"} < set(tacit.__all__)
    assert all(getattr(tacit, name) is not None for name in dir(tacit))


def test_no_public_name_is_of_the_list_of_private_words():
    """Names, members and parameters, by the patterns that the language gate counts."""
    pattern = runpy.run_path(str(ROOT / ".ci" / "language.py"))["NAMES"]
    assert pattern.search("own_items")
    found = []
    for name in tacit.__all__:
        public = getattr(tacit, name)
        members = inspect.getmembers(public) if inspect.isclass(public) else []
        open_members = [(key, value) for key, value in members if not key.startswith("_")]
        names = [name, *(key for key, _ in open_members)]
        for value in (public, *(value for _, value in open_members)):
            with contextlib.suppress(TypeError, ValueError):
                names += inspect.signature(value).parameters
        found += [(name, each) for each in names if pattern.search(each)]
    assert found == []


def test_the_version_is_the_packages(run):
    assert tacit.__version__ == version("tacit-recommender")
    assert run("--version") == (0, f"tacit {version('tacit-recommender')}\n", "")


def test_predict_takes_raw_ids_and_predict_codes_row_numbers():
    # Ids that are codes of somebody else: confused, every prediction would be another one.
    frame = pl.DataFrame(
        {"user": [0, 0, 1, 1, 2], "item": [2, 1, 1, 0, 2], "rating": [5, 1, 2, 4, 3]}
    )
    moved = frame.with_columns(user=pl.col("user") + 1, item=pl.col("item") + 1)
    fitted = fit("bias", from_frame(moved, scale="1:5:1"))
    by_id = fitted.predict([1, 2, 3], [3, 1, 2])
    assert by_id.tolist() == fitted.predict_codes(np.array([0, 1, 2]), np.array([2, 0, 1])).tolist()
    assert len(set(by_id.tolist())) == 3
    for users in (np.array([1, 2, 3]), pl.Series([1, 2, 3]), ["1", "2", "3"]):
        assert fitted.predict(users, [3, 1, 2]).tolist() == by_id.tolist()
    assert fitted.predict([9], [3])[0] == pytest.approx(fitted.predict_codes([-1], [2])[0])
    assert fitted.predict_codes(np.array([0], np.int64), [2]).dtype == np.float32
    with pytest.raises(RequestError, match="must have the same length, got 2 users and 1 items"):
        fitted.predict([1, 2], [3])


def test_the_distribution_is_named_as_it_is_published():
    """`tacit` alone is another package of the index: nobody must be sent to it."""
    root = Path(__file__).parent.parent
    published = re.compile(r"\btacit\[|pip install '?tacit\b(?!-)|version\(.tacit.\)")
    texts = [
        root / "README.md",
        *root.glob("requirements*.lock"),
        *root.glob("tests/plugin/**/*.toml"),
    ]
    for folder, suffix in (("src", "py"), ("docs", "md"), ("examples", "*"), ("deploy", "*")):
        texts += [path for path in (root / folder).rglob(f"*.{suffix}") if path.is_file()]
    assert [path for path in texts if published.search(path.read_text())] == []
    assert published.search("pip install 'tacit[spark]'")
