"""Models on engines: the same digits in any blocks, on any machine, and after a kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import fitting
import numpy as np
import pytest
from repeatable_words import RepeatableWordsForTestsOnly
from scipy.sparse import csr_array

from tacit import Catalogue, Rated, Sample, fit, models, perturb
from tacit.channels import compile_channel
from tacit.engines.engine import Local
from tacit.engines.spark import Spark
from tacit.errors import RequestError
from tacit.models import Fitted
from tacit.readers import synthetic
from tacit.reports import Reports

RATINGS = synthetic(90, 60, 2000)
SETTINGS = {
    "channel-mf": {"draws": 2, "burn_in": 4},
    "channel-mf-screened": {"draws": 2, "burn_in": 4},
    "mf": {"ridge": 10.0, "sweeps": 2},
    "mf-plain": {"ridge": 10.0, "sweeps": 2},
    "global-mean": {},
    "item-mean": {},
    "bias": {},
    "popularity": {},
    "ease": {},
    "graph-filter": {"directions": 6},
}
"""What each model that learns on engines learns little by."""
REPEATS = (
    ("mf-plain", "rated"),
    ("channel-mf-screened", "rated"),
    ("mf", "catalogue"),
    ("bias", "catalogue"),
)
"""Models and plans of which others of the default run differ in one of both."""


@cache
def reports(plan: str) -> Reports:
    """Of made-up people, the same whenever; they tell enough for people's spreads to be learnt."""
    channel = compile_channel("optimal", epsilon="5", scale=RATINGS.scale, missing=plan != "rated")
    asked = {"rated": Rated, "catalogue": Catalogue, "sample": lambda c: Sample(c, 20)}[plan]
    return perturb(RATINGS, asked(channel), words=RepeatableWordsForTestsOnly(2))


def arrays(fitted: object) -> Iterator[bytes]:
    """Every bit of what was learnt."""
    if isinstance(fitted, np.ndarray):
        yield fitted.tobytes()
    elif isinstance(fitted, csr_array):
        yield from (part.tobytes() for part in (fitted.indptr, fitted.indices, fitted.data))
    elif is_dataclass(fitted):
        for field in fields(fitted):
            yield from arrays(getattr(fitted, field.name))


def same(found: object, wanted: object) -> bool:
    """Whether two fits are equal to the last bit."""
    both = [list(arrays(found)), list(arrays(wanted))]
    return both[0] == both[1] and sum(map(len, both[0])) > 100


def test_each_model_with_an_engine_is_here():
    known = {**models.MODELS, **models.LIST_MODELS}
    assert {name for name, one in known.items() if hasattr(one, "engine")} == {*SETTINGS}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "plan"),
    [
        *((name, "rated") for name in SETTINGS if name not in ("mf-plain", "channel-mf-screened")),
        *((name, "catalogue") for name in ("channel-mf", "popularity", "ease")),
        *((name, "sample") for name in ("channel-mf-screened", "mf-plain", "graph-filter")),
        *(pytest.param(*case, marks=pytest.mark.long) for case in REPEATS),
    ],
)
def test_blocks_over_a_folder_give_the_digits_of_memory(name: str, plan: str, tmp_path: Path):
    data = reports(plan)
    whole = fit(name, data, **SETTINGS[name])
    for blocks in (1, 7) if name == "channel-mf" else (7,):
        there = {"engine": Local(blocks), "state": tmp_path / str(blocks)}
        assert same(fit(name, data, **SETTINGS[name], **there), whole)


@pytest.mark.spark
@pytest.mark.parametrize("name", SETTINGS)
def test_spark_gives_the_digits_of_this_process(name: str, spark: Spark, tmp_path: Path):
    data = reports("catalogue" if name in models.LIST_MODELS else "rated")
    whole = fit(name, data, **SETTINGS[name])
    for blocks in (1, 2, 7):
        there = {"engine": Spark(spark.master, blocks), "state": tmp_path / str(blocks)}
        assert same(fit(name, data, **SETTINGS[name], **there), whole)


class StoppedError(Exception):
    """Stands for whatever ends a process."""


class Mortal:
    """An engine of two blocks that ends after it ran so many of them; `ran` counts."""

    blocks = 2

    def __init__(self, lifetime: float = np.inf):
        self.lifetime, self.ran = lifetime, 0

    def over(self, kernel, blocks, shared):
        """As `Engine.over`, one block after another."""
        return [self._one(kernel, block, shared) for block in blocks]

    def _one(self, kernel, block, shared):
        if self.ran >= self.lifetime:
            raise StoppedError
        self.ran += 1
        return kernel(block, shared)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["channel-mf", "mf"])
def test_a_fit_that_was_stopped_goes_on_from_its_last_whole_sweep(name: str, tmp_path: Path):
    data = reports("rated")
    settings = {"sweeps": 2} if name == "mf" else SETTINGS[name]  # for every ridge
    healthy = Mortal()
    whole = fit(name, data, **settings, engine=healthy, state=tmp_path / "whole")
    for lifetime in range(0, healthy.ran, 29):
        state, again = tmp_path / str(lifetime), Mortal()
        with pytest.raises(StoppedError):
            fit(name, data, **settings, engine=Mortal(lifetime), state=state)
        assert same(fit(name, data, **settings, engine=again, state=state), whole)
        # At most the sweep it died in is done again: four blocks, and four that settle.
        assert healthy.ran - lifetime <= again.ran <= healthy.ran - lifetime + 7


def test_a_fit_that_is_done_is_read_and_not_done_again(tmp_path: Path):
    data, first, second = reports("rated"), Mortal(), Mortal()
    there = {"state": tmp_path, **SETTINGS["channel-mf"]}
    fits = [fit("channel-mf", data, engine=each, **there) for each in (first, second)]
    assert same(*fits)
    assert second.ran == 0


@pytest.mark.parametrize("other", [{"rng": 1}, {"factors": 3}, {"data": reports("sample")}])
def test_a_folder_of_another_fit_is_refused(other: dict[str, object], tmp_path: Path):
    given = {"name": "mf", "data": reports("rated"), "ridge": 5.0, "sweeps": 1, "state": tmp_path}
    fit(**given)
    with pytest.raises(RequestError, match="checkpoint of a fit with different reports"):
        fit(**given | other)


def test_a_folder_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fit("mf", reports("rated"), ridge=5.0, sweeps=1, state=tmp_path)
    monkeypatch.setattr("tacit.engines.tables.version", lambda name: "0.0.9")
    with pytest.raises(RequestError, match="or version of Tacit"):
        fit("mf", reports("rated"), ridge=5.0, sweeps=1, state=tmp_path)


def test_a_folder_that_is_made_is_its_owners_alone(tmp_path: Path):
    """Reports are in it."""
    fit("mf", reports("rated"), ridge=5.0, sweeps=1, state=str(tmp_path / "state"))
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_an_engine_without_a_folder_is_refused():
    with pytest.raises(RequestError, match="Name a folder that all workers can reach"):
        fit("bias", reports("rated"), engine=Local(2))


def killed_after(sweeps: int, command: list[str]) -> int:
    """Kill a fit when it said so many sweeps; its exit status."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=WITH_TESTS) as process:
        assert process.stdout is not None
        for _ in range(sweeps):
            assert process.stdout.readline()
        process.kill()
    return process.returncode


IMPORTABLE = str(Path(fitting.__file__).parent)
WITH_TESTS = os.environ | {"PYTHONPATH": os.pathsep.join([IMPORTABLE, *sys.path])}


@pytest.mark.spark
def test_a_killed_driver_and_a_killed_worker_change_no_bit(tmp_path: Path):
    whole = fitting.fitted()
    command = [sys.executable, "-m", "fitting", "local[2,4]", str(tmp_path / "state")]
    out, died = tmp_path / "model", tmp_path / "state" / "died"
    assert killed_after(3, [*command, str(out)]) == -signal.SIGKILL
    assert not out.exists()
    assert not died.exists()
    again = [*command, str(out), "dying"]
    subprocess.run(again, check=True, capture_output=True, env=WITH_TESTS)
    assert died.exists()
    assert same(Fitted.load(out), whole)


@pytest.mark.spark
def test_a_worker_that_dies_where_spark_tries_once_is_a_sentence_and_the_fit_goes_on(
    tmp_path: Path,
):
    out = tmp_path / "model"
    command = [sys.executable, "-m", "fitting", "local[2]", str(tmp_path), str(out), "dying"]
    first = subprocess.run(command, capture_output=True, text=True, env=WITH_TESTS)
    assert first.returncode == 1
    assert first.stderr.splitlines()[-1].startswith(
        "tacit.errors.RequestError: A worker of local[2] died repeatedly on its block"
    )
    subprocess.run(command, check=True, capture_output=True, env=WITH_TESTS)
    assert same(Fitted.load(out), fitting.fitted())
