"""Fixtures that tests of several packages share."""

import dataclasses
import gc
import gzip
import io
import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path

# A worker a core: a second thread of BLAS would only wait for the first, at a core's full cost.
# NumPy reads this once, as it is imported; a process that a test starts inherits it.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OPENBLAS_NUM_THREADS", "1")

import numba
import numpy as np
import polars as pl
import pytest
import typer.main
from hypothesis import HealthCheck, settings
from markupsafe import Markup

from tacit.channels import compile_channel
from tacit.channels.table import Channel
from tacit.cli import main
from tacit.collection.plans import Rated
from tacit.engines.engine import Engine, Local
from tacit.engines.spark import Spark
from tacit.experiments.comparison.comparison import Comparison
from tacit.learners.learner import Learner
from tacit.models import evidence
from tacit.models.least_squares.baselines import Baseline
from tacit.privacy.guarantee import Guarantee
from tacit.readers import synthetic
from tacit.scale import RatingScale
from tacit.wire.tasks.blocks import Growth, ItemBlock, threshold_of
from tacit.wire.tasks.task import Task

SHIFT = int(os.environ.get("TACIT_TEST_SEED", "0"))
"""Shifts every seed of NumPy's generators, so that tests run on other data."""


SEEDED = np.random.default_rng


def shifted(seed=None):
    """The generator of another seed for each seed that is a number."""
    return SEEDED((seed, SHIFT) if isinstance(seed, int | np.integer) else seed)


class UnshiftedExamples:
    """Examples of the documents print exact figures, so that they run on their own seeds."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if isinstance(item, pytest.Function):
            return (yield)
        np.random.default_rng = SEEDED
        try:
            return (yield)
        finally:
            np.random.default_rng = shifted


def pytest_configure(config) -> None:
    if SHIFT:
        np.random.default_rng = shifted
        config.pluginmanager.register(UnshiftedExamples())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """Mark all cases as `long` but one in n of a test that is marked `sampled(n)`.

    These cases repeat one claim, each at a cost. The first one always runs.
    """
    cases = Counter()
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            claim = item.nodeid.partition("[")[0]
            if cases[claim] % sampled.args[0]:
                item.add_marker(pytest.mark.long)
            cases[claim] += 1


settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")
numba.set_num_threads(1)  # the same for kernels; tests of threads set their own number
STARS = RatingScale.parse("1:5:1")
HEADER = b"user,item,rating\n"
MOVIE = b"1\t2\t3\t881250949\n"
JOKES = b"2,1.5,99,-3.25\n"


def pytest_collection_finish() -> None:
    """Collect garbage less often, and never walk over the collected tests, which stay to the end.

    With Python's own threshold of 700 objects, collections are a twentieth of the CPU time.
    """
    gc.freeze()
    gc.set_threshold(100_000)


@dataclass(frozen=True)
class Malformed:
    """A file that no reader may accept, and what its refusal has to name."""

    id: str
    file: str
    data: bytes
    names: tuple[str, ...]
    scale: str | None = None
    columns: str | None = None


def _packed(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner/u.data", data)
    return packed.getvalue()


def _parquet(**columns: object) -> bytes:
    stored = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stored)
    return stored.getvalue()


MALFORMED = [
    Malformed("empty", "u.data", b"", ("u.data", "empty")),
    Malformed("blank", "ratings.csv", b"\n\n  \n", ("ratings.csv", "empty")),
    Malformed("header-only", "r.csv", HEADER, ("r.csv", "no rating")),
    Malformed("too-few-fields", "u.data", MOVIE + b"1\t3\t4\n", ("line 2", r"'1\t3\t4'", "4")),
    Malformed("too-many-fields", "u.data", MOVIE + b"1\t3\t4\t5\t6\n", ("line 2", "5 fields")),
    Malformed("blank-item", "u.data", MOVIE + b"1\t \t4\t5\n", ("line 2", "item is empty")),
    Malformed("not-a-rating", "u.data", MOVIE + b"1\t3\tgood\t5\n", ("line 2", "'good'")),
    Malformed("not-a-time", "u.data", MOVIE + b"1\t3\t4\tnow\n", ("line 2", "timestamp 'now'")),
    Malformed("off-scale", "u.data", MOVIE * 3 + b"1\t3\t6\t5\n", ("line 4", "'6'", "1:5:1")),
    Malformed("between-levels", "u.data", MOVIE + b"1\t3\t3.5\t5\n", ("line 2", "'3.5'")),
    Malformed("first-line", "u.data", b"1\t3\t9\t5\n" + MOVIE, ("line 1", "'9'")),
    Malformed("colons", "ratings.dat", b"1::2::3::4\n1:2:3:4\n", ("line 2", "'1:2:3:4'")),
    Malformed("nan", "r.csv", HEADER + b"1,2,3\n1,3,NaN\n", ("line 3", "'NaN'")),
    Malformed("infinite", "r.csv", HEADER + b"1,2,3\n1,3,inf\n", ("line 3", "'inf'")),
    Malformed("empty-rating", "r.csv", HEADER + b"1,2,3\n1,3,\n", ("line 3", "rating is empty")),
    Malformed("empty-person", "r.csv", HEADER + b"1,2,3\n,3,4\n", ("line 3", "user is empty")),
    Malformed("after-blank", "r.csv", HEADER + b"1,2,3\n\n1,3,x\n", ("line 4", "'x'")),
    Malformed("missing-column", "r.csv", b"user,item,stars\n1,2,3\n", ("line 1", "'rating'")),
    Malformed(
        "renamed-column", "r.csv", HEADER + b"1,2,3\n", ("'who'", "user=NAME"), columns="user=who"
    ),
    Malformed(
        "declared-scale", "r.csv", HEADER + b"1,2,3\n1,3,7\n", ("line 3", "'7'"), scale="1:5:1"
    ),
    Malformed("no-scale", "r.csv", HEADER + b"1,2,3.137\n1,3,2.2\n", ("scale", "--scale")),
    Malformed("one-value", "r.csv", HEADER + b"1,2,3\n1,3,3\n", ("all ratings are 3", "--scale")),
    Malformed("quotes", "r.csv", HEADER + b'1,2,3\n"1,3,4\n', ("line 3",)),
    Malformed("latin-1", "r.csv", HEADER + b"1,2,3\n1,caf\xe9,4\n", ("line 3", "0xe9")),
    Malformed("cr", "r.csv", HEADER.replace(b"\n", b"\r") + b"1,2,3\r", ("line 1", "CR only")),
    Malformed("utf-16", "r.csv", HEADER.decode().encode("utf-16"), ("UTF-16", "UTF-8")),
    Malformed("movie-missing", "mv_1.txt", b"8,3,2005-09-06\n", ("line 1", "movie:")),
    Malformed("movie-date", "mv_1.txt", b"1:\n8,3,2005-09-06\n9,3,never\n", ("line 3", "'never'")),
    Malformed("movie-rating", "mv_1.txt", b"1:\n8,3,2005-09-06\n9,6,2005-09-06\n", ("line 3", "6")),
    Malformed("joke-count", "jester.csv", JOKES + b"3,1.5,99,-3.25\n", ("line 2", "'3'", "2")),
    Malformed("joke-value", "jester.csv", JOKES + b"2,1.5,99,-13.25\n", ("line 2", "'-13.25'")),
    Malformed("joke-missing", "jester.csv", JOKES + b"2,1.5,99\n", ("line 2", "3 fields")),
    Malformed("dating", "libimseti.dat", b"1,2,10\n1,3,11\n", ("line 2", "'11'", "1:10:1")),
    Malformed(
        "truncated-gzip", "u.data.gz", gzip.compress(MOVIE * 9000, mtime=0)[:-60], ("u.data.gz",)
    ),
    Malformed("broken-zip", "u.zip", _packed(MOVIE)[:-30], ("u.zip", "zip")),
    Malformed("inside-zip", "u.zip", _packed(MOVIE + b"1\t3\t8\t5\n"), ("u.data, line 2", "'8'")),
    Malformed("not-ratings", "notes.txt", b"Dear diary,\n", ("notes.txt", "line 1", "'user'")),
    Malformed("no-format", "image.png", b"\x89PNG\r\n\x1a\n", ("image.png", "specify its format")),
    Malformed("bad-parquet", "r.parquet", b"PAR1 and then nothing", ("r.parquet", "read")),
    Malformed(
        "parquet-missing",
        "r.parquet",
        _parquet(user=[1, 1], item=[2, 3], stars=[4, 5]),
        ("'rating'", "'user, item, stars'"),
    ),
    Malformed(
        "parquet-null",
        "r.parquet",
        _parquet(user=[1, 1], item=[2, 3], rating=[4.0, None]),
        ("row 2", "rating is missing"),
    ),
    Malformed(
        "parquet-nan",
        "r.parquet",
        _parquet(user=[1, 1], item=[2, 3], rating=[4.0, float("nan")]),
        ("row 2", "'nan'"),
    ),
    Malformed(
        "parquet-type",
        "r.parquet",
        _parquet(user=[1.5, 1.0], item=[2, 3], rating=[4.0, 3.0]),
        ("'user'", "Float64"),
    ),
]


@pytest.fixture(params=MALFORMED, ids=lambda case: case.id)
def malformed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Malformed]:
    """Each malformed file in turn, written in a folder of its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / request.param.file
    path.write_bytes(request.param.data)
    return path, request.param


@pytest.fixture(scope="session")
def ratings():
    """A few made-up people's ratings."""
    return synthetic(60, 90, 2000)


class Mean:
    """A model of the mean; a device adds its owner's own mean."""

    def fit(self, data, *, rng=0, advance=None):
        fitted = Baseline(items=False, people=False).fit(data)
        free = np.full_like(fitted.precision, 1e-9)  # a device's own mean, whatever the model's
        return dataclasses.replace(fitted, precision=free)


class Asks:
    """A trainer that returns the mean of the true ratings, and notes what it was given."""

    def __init__(self):
        self.calls = []

    def fit(self, data, *, epsilon, delta, rng, advance=None):
        self.calls.append((len(data), epsilon, delta))
        made = Guarantee(epsilon=epsilon, unit="user", trust="nobody", released="bits")
        return dataclasses.replace(Mean().fit(evidence(data)), guarantee=made)


def even(name, channel, epsilon, scale, cap=None):
    """A plan over a channel that says almost nothing: two symbols, about equally likely."""
    half, tilt = 1 << 63, 1 << 53
    rows = tuple((half + k * tilt, half - k * tilt) for k in range(scale.n_levels))
    return Rated(Channel(scale.levels, (Decimal(1), Decimal(5)), rows, epsilon), cap)


@pytest.fixture
def find():
    """Every name is the model of the mean, but `asks`, which is a trainer."""
    asks = Learner(name="asks", settings=Asks(), is_trainer=True, where=("device",),
                   unit="user", modes=("strict",))  # fmt: skip

    def learner(name, mode="strict"):
        return asks if name == "asks" else Learner(name=name, settings=Mean())

    return learner


@pytest.fixture
def compared(ratings, find):
    """A comparison of the models `mean` and `other` through a channel that says almost nothing."""

    def make(**changes):
        usual = {"channels": ["even"], "models": ["mean", "other"], "epsilons": ["0.5"]}
        return Comparison(**{**usual, "learner": find, "make_plan": even, **changes})

    return make


@pytest.fixture
def ask():
    """Makes a small task; `missing` follows the plan."""

    def made(
        plan: str = "rated", epsilons: tuple[str, ...] = ("1",), items=range(100, 106), **changes
    ):
        channels = tuple(
            compile_channel("randomized-response", epsilon=e, scale=STARS, missing=plan != "rated")
            for e in epsilons
        )
        fields = {
            "name": "Films",
            "scale": STARS,
            "plan": plan,
            "items": tuple(items),
            "channels": channels,
            "start": 1_000,
        }
        return Task(**fields | changes)

    return made


@pytest.fixture
def growing(ask):
    """Makes a small task over slots that can be extended, with the provider of films."""

    def made(plan="sample:3", *given, limit=20, renewals=(), open_from=0, **changes):
        task = ask(plan, *given, **{"provider": "https://films.example"} | changes)
        block = ItemBlock(0, len(task.items), threshold_of(task.slots, len(task.items)), open_from)
        return replace(task, growth=Growth(limit, tuple(renewals), (block,)))

    return made


tree = cache(typer.main.get_command)
"""The tree of commands, which Typer builds anew in every call of a process."""


@pytest.fixture
def run(capsys):
    """Run a command; gives (status, output, errors)."""

    def command(*arguments):
        capsys.readouterr()
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(typer.main, "get_command", tree)
                main([str(argument) for argument in arguments])
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        out, err = capsys.readouterr()
        return status, out, err

    return command


@pytest.fixture
def blank_pictures(monkeypatch):
    """Reports without what is drawn in their pictures, where a claim is about the rest."""
    blank = Markup('<svg role="img"></svg>')
    monkeypatch.setattr("tacit.reporting.page.inline", lambda drawing, prefix, words: blank)


ENGINES = [
    pytest.param(1, id="one-block"),
    pytest.param(2, id="two-blocks"),
    pytest.param(7, id="seven-blocks"),
    pytest.param("local[2]", id="spark", marks=pytest.mark.spark),
]


@pytest.fixture(scope="session")
def spark() -> Iterator[Spark]:
    """One Spark for all tests: it takes ten seconds to start."""
    with Spark("local[2]", blocks=3, memory="1g") as engine:
        yield engine


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn; Spark's has the marker `spark`."""
    if isinstance(request.param, int):
        return Local(request.param)
    return request.getfixturevalue("spark")
