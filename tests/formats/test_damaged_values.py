"""Values that only a check of their range can refuse: each has its sentence."""

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from changed_files import FILES
from used_files import use_collector, use_device

from tacit import fit, synthetic
from tacit.collector.storage.sqlite import SqliteStore
from tacit.errors import DataError, RequestError, TacitError
from tacit.models import Fitted


@pytest.fixture
def copied(tmp_path):
    return lambda name: Path(shutil.copy(FILES / name, tmp_path / name))


def executed(path: Path, *statements: tuple) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(*statement)
    return path


def one_report(column: str) -> str:
    return f"UPDATE reports SET {column} = ? WHERE id = (SELECT min(id) FROM reports)"


RATED_FAULTS = {
    "place": (("cells", struct.pack("<IH", 60, 0)), "a place from 0 to 59, got 60"),
    "largest place": (("cells", struct.pack("<IH", (1 << 32) - 1, 0)), "got 4294967295"),
    "symbol": (("cells", struct.pack("<IH", 3, 999)), "got 999"),
    "channel": (("mech", 2), "a channel from 0 to 1, got 2"),
    "negative channel": (("mech", -1), "has a value of the wrong type or size"),
    "text channel": (("mech", "x"), "has a value of the wrong type or size"),
    "long cells": (("cells", b"\0" * 7), "has a value of the wrong type or size"),
    "short person": (("person", b"me"), "has a value of the wrong type or size"),
    "negative epoch": (("epoch", -1), "has a value of the wrong type or size"),
}


@pytest.mark.parametrize("fault", RATED_FAULTS)
def test_a_stored_rating_outside_of_its_task_is_refused(copied, fault):
    (column, value), says = RATED_FAULTS[fault]
    path = executed(copied("rated.collector.db"), (one_report(column), (value,)))
    with pytest.raises(TacitError, match=says):
        use_collector(path)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["rated", "sample"])
@pytest.mark.parametrize("number", [0, -1, 77, 1 << 40, "x", 1.5])
def test_reports_of_an_unknown_task_are_counted_and_refused(copied, name, number):
    path = executed(copied(f"{name}.collector.db"), (one_report("task"), (number,)))
    with pytest.raises(
        RequestError,
        match=r"1 stored reports belong to an unknown task, for example [a-z]+ [0-9A-F]",
    ):
        use_collector(path)
    with closing(sqlite3.connect(path)) as db:
        (count,) = db.execute("SELECT count(*) FROM reports").fetchone()
    executed(path, ("UPDATE reports SET task = ?", (number,)))
    with pytest.raises(RequestError, match=f"{count} stored reports belong to an unknown task"):
        use_collector(path)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["sample", "catalogue", "implicit"])
@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (lambda old: old[:-1], "symbols;"),
        (lambda old: old + b"\0", "symbols;"),
        (lambda old: b"\2" + old[1:], "symbols;"),
        (lambda old: b"\1" + b"\xff" * (len(old) - 1), "got 255"),
        (lambda old: b"\2" + b"\0\1" * (len(old) - 1), "got 256"),
    ],
)
def test_a_stored_report_on_slots_outside_of_its_task_is_refused(copied, name, cells, says):
    path = copied(f"{name}.collector.db")
    with closing(sqlite3.connect(path)) as db:
        (old,) = db.execute("SELECT cells FROM reports ORDER BY id").fetchone()
    with pytest.raises(DataError, match=says):
        use_collector(executed(path, (one_report("cells"), (cells(old),))))


@pytest.mark.parametrize("table", ["tasks", "reports", "erasures", "clock"])
def test_a_store_without_a_table_is_not_opened_by_a_collector(copied, table):
    path = executed(copied("rated.collector.db"), (f"DROP TABLE {table}",))
    with pytest.raises(RequestError, match=f"columns differ: {table}\\."):
        SqliteStore(str(path))


DEVICE_FAULTS = {
    "rating.place": (
        "UPDATE OR REPLACE rating SET place = 60",
        "rating.place must be from 0 to 59",
    ),
    "rating.level": ("UPDATE rating SET level = -1", "rating.level must be from 0 to 4"),
    "answer.symbol": ("UPDATE answer SET symbol = 999", "answer.symbol must be from 0 to"),
    "answer.row": ("UPDATE OR REPLACE answer SET row = 9", "answer.row must be from 0 to"),
    "last.channel": ("UPDATE OR REPLACE last SET channel = -1", "last.channel must be from 0 to 1"),
    "text level": ("UPDATE rating SET level = 'x'", "rating.level has a value of the wrong type"),
    "spent": ("UPDATE person SET spent = -1", "row in the person table is missing or damaged"),
    "secret": ("UPDATE person SET secret = x'00'", "row in the person table is missing or damaged"),
    "nobody": ("DELETE FROM person", "row in the person table is missing or damaged"),
    "no such task": ("UPDATE rating SET task = 77", "a row of rating refers to a missing row"),
    "renamed column": ("ALTER TABLE rating RENAME level TO stars", "columns differ: rating.level"),
}


@pytest.mark.parametrize("fault", DEVICE_FAULTS)
def test_a_device_store_outside_of_its_task_is_refused(copied, fault):
    statement, says = DEVICE_FAULTS[fault]
    with pytest.raises(DataError, match=says):
        use_device(executed(copied("rated.device.db"), (statement,)))


MODEL_FAULTS = {
    "not a number": ("mu", lambda array: np.full_like(array, np.nan), "mu must be finite"),
    "other type": ("people", lambda array: array.astype("f8"), "people must be finite float32"),
    "fewer items": ("items", lambda array: array[:, 1:], "items must be finite float32 of shape"),
    "no precision": ("precision", lambda array: 0 * array, "precision has the invalid value 0"),
    "large factor": ("items", lambda array: array * 0 + 1e20, "items must be at most 1e\\+15"),
    "fewer draws": ("precision", lambda array: array[:1], "must be finite"),
    "vectors": ("presence_centre", lambda array: np.zeros(9), "presence_centre must be finite"),
    "condensed": ("condensed_items", lambda array: array[:3], "condensed_items must be finite"),
    "shrinkage": (
        "condensed_shrinkage",
        lambda array: array - 9,
        "shrinkage has the invalid value -",
    ),
}


@pytest.mark.parametrize("fault", MODEL_FAULTS)
def test_a_model_with_another_array_is_refused(tmp_path, fault):
    name, change, says = MODEL_FAULTS[fault]
    with np.load(FILES / "presence.model") as file:
        arrays = {key: file[key] for key in file.files}
    np.savez(tmp_path / "model.npz", **arrays | {name: change(arrays[name])})
    with pytest.raises(RequestError, match=says):
        Fitted.load(tmp_path / "model.npz")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["mf", "channel-mf"])
def test_a_state_folder_of_changed_files_is_refused(name, tmp_path):
    settings = {"mf": {"ridge": 5.0, "sweeps": 1}, "channel-mf": {"draws": 1, "burn_in": 1}}[name]
    data = synthetic(12, 60, 300, rng=1)
    fit(name, data, **settings, state=tmp_path)
    files = sorted({*tmp_path.rglob("*.np?")})
    assert {file.suffix for file in files} == {".npy", ".npz"}
    for file in files:
        whole = file.read_bytes()
        for damaged in (whole[:-1], whole[:50], b"", whole.replace(b"'<", b"'>")):
            if damaged == whole:
                continue
            file.write_bytes(damaged)
            with pytest.raises(RequestError, match="is damaged or missing"):
                fit(name, data, **settings, state=tmp_path)
        file.write_bytes(whole)


def test_other_arrays_in_a_state_archive_are_refused(tmp_path):
    settings = {"factors": 2, "draws": 2, "burn_in": 1}
    data = synthetic(12, 60, 300, rng=1)
    fit("channel-mf", data, **settings, state=tmp_path)
    (path,) = tmp_path.rglob("state.npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    for name, array in arrays.items():
        others = [array.astype("i4"), array[None], np.append(array, array)]
        if name.startswith("draws-") and array.ndim > 1:
            others.append(array[:, :-1])
        for other in others:
            np.savez(path, **arrays | {name: other})
            with pytest.raises(RequestError, match="is damaged or missing"):
                fit("channel-mf", data, **settings, state=tmp_path)
        np.savez(path, **{key: value for key, value in arrays.items() if key != name})
        with pytest.raises(RequestError, match="is damaged or missing"):
            fit("channel-mf", data, **settings, state=tmp_path)
    np.savez(path, **arrays)
    fit("channel-mf", data, **settings, state=tmp_path)


def test_other_indices_in_a_state_folder_are_refused(tmp_path):
    data = synthetic(12, 60, 300, rng=1)
    settings = {"ridge": 5.0, "sweeps": 1, "state": tmp_path}
    fit("mf", data, **settings)
    (path,) = tmp_path.rglob("people-other.npy")
    columns = np.load(path)
    columns[0] = 1 << 30
    np.save(path, columns)
    with pytest.raises(RequestError, match=r"people-other.npy is damaged or missing"):
        fit("mf", data, **settings)
