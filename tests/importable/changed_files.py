"""Files of our own formats, changed in their structure or in their bytes.

A structural change is written with correct checksums, lengths and addresses, so that only a check
of the values can refuse the file.
"""

import io
import json
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
from damaged_files import cut, flipped, inserted, noise, repeated
from mutating import Mutator

from tacit.wire.item_model import MAGICS
from tacit.wire.list_model import MAGICS as LISTS

FILES = Path(__file__).parents[1] / "formats" / "0.1.0"
KINDS = {
    "reports": ("reports.parquet", "implicit.parquet"),
    "collector": (
        "rated.collector.db",
        "sample.collector.db",
        "catalogue.collector.db",
        "implicit.collector.db",
    ),
    "device": ("rated.device.db", "sample.device.db", "implicit.device.db"),
    "items": ("mf.items",),
    "lists": ("ease",),
    "model": ("bias.model", "mf.model", "of-store.model", "presence.model"),
    "task": ("rated.task.json", "sample.task.json", "implicit.task.json"),
    "journal": ("grid.json.journal", "rows.json"),
}
BYTES = (noise, cut, flipped, flipped, flipped, repeated, inserted)
NUMBERS = (-1, 0, 1, 2, 7, 59, 60, 255, 256, 65_535, 1 << 31, (1 << 31) - 1, -(1 << 63),
           (1 << 63) - 1)  # fmt: skip
REALS = (0.0, -1.0, 1e-45, 1e-30, 1e30, 3e38, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", "x", "1", "\0", "rated", "ab" * 32)
TYPES = (pl.String, pl.Int8, pl.Int64, pl.UInt64, pl.Float64, pl.Boolean, pl.Binary, pl.Date)
DTYPES = ("f2", "f4", "f8", ">f4", "i1", "i8", "u1", "U3", "S2", "?", "c8", "M8[s]")


def changed(kind: str, seed: int, path: Path) -> None:
    """Write case `seed` of a kind to `path`: a valid file with one to three changes, or none."""
    chance = Random(f"{kind} {seed}")
    name = chance.choice(KINDS[kind])
    shutil.copy(FILES / name, path)
    if kind == "device":
        with_model(path, FILES / ("mf.items" if name.startswith("rated") else "ease"))
    act = chance.random()
    if act < 0.75:
        STRUCTURES[kind](chance, path)
    elif act < 0.95:
        path.write_bytes(chance.choice(BYTES)(chance, path.read_bytes()))


def with_model(path: Path, model: Path) -> None:
    """Let the provider of a device's store have published a model."""
    data = model.read_bytes()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(
            "UPDATE provider SET model = ?, model_document = ?", (sha256(data).hexdigest(), data)
        )


def text(chance: Random, good: str, *, spaced: bool = True) -> str:
    """JSON with values, keys or lengths changed."""
    written = Mutator(chance.randrange(1 << 32)).text(good, spaced=spaced)
    return written.decode(errors="replace")


def reports(chance: Random, path: Path) -> None:
    header = pl.read_parquet_metadata(path)["tacit"]
    frame = pl.read_parquet(path)
    if chance.random() < 0.4:
        header = text(chance, header)
    for _ in range(chance.choice((0, 1, 1, 2))):
        # What polars cannot make of a frame no file can hold.
        with suppress(pl.exceptions.PolarsError, OverflowError, TypeError):
            frame = chance.choice(FRAMES)(chance, frame)
    frame.write_parquet(path, metadata={"tacit": header})


def _value(chance: Random, frame: pl.DataFrame) -> pl.DataFrame:
    name, row = chance.choice(frame.columns), chance.randrange(len(frame))
    values = frame[name].to_list()
    values[row] = chance.choice((*NUMBERS, None, *TEXTS, *REALS))
    return frame.with_columns(pl.Series(name, values, strict=False))


def _typed(chance: Random, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        pl.col(chance.choice(frame.columns)).cast(chance.choice(TYPES), strict=False)
    )


def _constant(chance: Random, frame: pl.DataFrame) -> pl.DataFrame:
    value = chance.choice((*NUMBERS, None, *TEXTS))
    return frame.with_columns(pl.lit(value).alias(chance.choice(frame.columns)))


FRAMES: tuple[Callable[[Random, pl.DataFrame], pl.DataFrame], ...] = (
    _value,
    _value,
    _typed,
    _constant,
    lambda chance, frame: frame.drop(chance.choice(frame.columns)),
    lambda chance, frame: frame.head(chance.randrange(len(frame))),
    lambda chance, frame: pl.concat([frame, frame.head(2)]),
    lambda chance, frame: frame.rename({chance.choice(frame.columns): "other"}),
    lambda chance, frame: frame.sample(fraction=1, shuffle=True, seed=chance.randrange(99)),
)


REPORTED = {"reports", "answer", "rating", "last"}


def database(chance: Random, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE sql <> ''")]
        tables = sorted(set(names) - {"waiting"})
        reported = sorted(REPORTED & set(tables))
        for _ in range(chance.choice((1, 1, 2, 3))):
            # A change that SQLite refuses, or a second one to a document.
            with suppress(sqlite3.Error, OverflowError, json.JSONDecodeError):
                _in_table(chance, db, chance.choice(tables + reported))


def _in_table(chance: Random, db: sqlite3.Connection, table: str) -> None:
    if chance.random() < 0.4:  # without the constraints, which a change would not pass
        db.execute(f"CREATE TABLE plain AS SELECT * FROM {table}")
        db.execute(f"DROP TABLE {table}")
        db.execute(f"ALTER TABLE plain RENAME TO {table}")
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")] or ["rowid"]
    column, act = chance.choice(columns), chance.random()
    if act < 0.75:
        _cell(chance, db, table, column)
    elif act < 0.8:
        db.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
    elif act < 0.85:
        db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    elif act < 0.88:
        db.execute(f"DROP TABLE {table}")
    elif act < 0.92:
        db.execute(f"DELETE FROM {table}")
    elif act < 0.96:
        db.execute(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 3")
    else:
        versions = (0, 1, 2, 3, 0x7AC17002, 0x7AC17003, 0x7AC17004)
        db.execute(f"PRAGMA user_version = {chance.choice(versions)}")


def _cell(chance: Random, db: sqlite3.Connection, table: str, column: str) -> None:
    """Change a column in one row, or in all rows."""
    rows = db.execute(f"SELECT {column} FROM {table}").fetchall()
    if not rows:
        return
    (old,) = chance.choice(rows)
    new = chance.choice((*NUMBERS, None, b"", 0.5, *TEXTS))
    if column == "document" and isinstance(old, bytes) and chance.random() < 0.9:
        new = text(chance, old.decode(errors="replace"), spaced=chance.random() < 0.1).encode()
        if table == "task":
            db.execute(
                "UPDATE task SET address = ?, question = ?, named = ?",
                (sha256(new).hexdigest(),) * 3,
            )
    elif isinstance(old, bytes) and chance.random() < 0.8:
        new = chance.choice(BLOBS)(chance, old)
    where = "" if chance.random() < 0.3 else f" WHERE {column} IS ?2"
    db.execute(f"UPDATE OR REPLACE {table} SET {column} = ?1{where}", (new, old)[: 1 + bool(where)])


BLOBS: tuple[Callable[[Random, bytes], bytes], ...] = (
    lambda chance, old: struct.pack(
        "<IH", chance.choice(NUMBERS) & 0xFFFFFFFF, chance.choice(NUMBERS) & 0xFFFF
    ),
    lambda chance, old: old[:-1],
    lambda chance, old: old + b"\0",
    lambda chance, old: old * 2,
    lambda chance, old: old[:1] + bytes(chance.choice((1, 7, 255)) for _ in old[1:]),
    lambda chance, old: b"\2" + old[1:],
    lambda chance, old: b"\2" + old[1:] * 2,
    lambda chance, old: chance.randbytes(len(old)),
)


def document(chance: Random, path: Path) -> None:
    """Change a published model: its header, or its numbers."""
    data = path.read_bytes()
    magic = next(each for each in (*MAGICS, *LISTS) if data.startswith(each))
    end = len(magic) + 4 + int.from_bytes(data[len(magic) : len(magic) + 4], "little")
    header, block = data[len(magic) + 4 : end], bytearray(data[end:])
    if chance.random() < 0.6:
        header = text(chance, header.decode()).encode()
    for _ in range(chance.choice((0, 1, 1, 3))):
        size = chance.choice((2, 4))
        at = size * chance.randrange(max(1, len(block) // size))
        number = struct.pack("<f", chance.choice(REALS))[-size:]
        block[at : at + size] = number if chance.random() < 0.7 else chance.randbytes(size)
    if chance.random() < 0.15:
        block = block[: chance.randrange(len(block) + 1)] * chance.choice((1, 2))
    path.write_bytes(magic + len(header).to_bytes(4, "little") + header + block)


def archive(chance: Random, path: Path) -> None:
    """Change a fitted model: its header, or one of its arrays."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    for _ in range(chance.choice((1, 1, 2))):
        name = chance.choice([*arrays, "header"])
        if name == "header":
            with suppress(ValueError, KeyError):  # changed before, or left out
                header = text(chance, arrays[name].tobytes().decode()).encode()
                arrays[name] = np.frombuffer(header, np.uint8)
        else:
            with suppress(ValueError, TypeError, IndexError, np.exceptions.ComplexWarning):
                arrays[name] = chance.choice(ARRAYS)(chance, arrays[name])
    if chance.random() < 0.1:
        del arrays[chance.choice(list(arrays))]
    stored = io.BytesIO()
    np.savez(stored, **arrays)
    path.write_bytes(stored.getvalue())


def _entry(chance: Random, array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    values = NUMBERS if copy.dtype.kind in "iu" else TEXTS if copy.dtype.kind == "U" else REALS
    copy.reshape(-1)[chance.randrange(copy.size)] = chance.choice(values)
    return copy


ARRAYS: tuple[Callable[[Random, np.ndarray], np.ndarray], ...] = (
    _entry,
    _entry,
    _entry,
    lambda chance, array: array.astype(chance.choice(DTYPES)),
    lambda chance, array: array[:-1],
    lambda chance, array: array[..., :-1],
    lambda chance, array: array[:0],
    lambda chance, array: array[None],
    lambda chance, array: array.reshape(-1),
    lambda chance, array: array[0],
    lambda chance, array: np.concatenate([array, array]),
    lambda chance, array: np.asfortranarray(array),
    lambda chance, array: np.full_like(array, chance.choice(REALS)),
    lambda chance, array: array.T,
)


def task(chance: Random, path: Path) -> None:
    path.write_text(text(chance, path.read_text(), spaced=False), newline="")


def journal(chance: Random, path: Path) -> None:
    lines = path.read_text().splitlines()
    if path.read_text().startswith("["):
        lines = [json.dumps(json.loads(path.read_text()))]
    at = chance.randrange(len(lines))
    lines[at] = text(chance, lines[at])
    path.write_text("\n".join(lines) + "\n")


STRUCTURES: dict[str, Callable[[Random, Path], None]] = {
    "reports": reports,
    "collector": database,
    "device": database,
    "items": document,
    "lists": document,
    "model": archive,
    "task": task,
    "journal": journal,
}
