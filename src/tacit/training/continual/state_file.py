"""State of a series of releases, in a folder that stays with the curator.

`state.npz` contains every user's contributions, which are secret. `counts-01.npy` and the like
contain noisy measurements, which are public. The measurements of a release are written before the
state that counts it. After a crash in between, the release is made again, and the first one was
never published. The folder is locked during a release, because two releases of the same number
would draw noise twice for one price.
"""

import fcntl
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import DataError, RequestError
from tacit.models import archive
from tacit.privacy.guarantee import PARTS, Part
from tacit.training.continual.contributions import ROWS, Contributions
from tacit.vocabulary import Vocabulary
from tacit.whole_files import whole

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
FORMAT = "tacit-releases-1"
STATE, LOCK = "state.npz", "lock"


@dataclass(frozen=True)
class SeriesTerms:
    """Terms of a series. `model`: its name. `epsilon`: nats per user of all `releases`
    together, with `delta`; decimal strings."""

    model: str
    epsilon: str
    delta: str
    releases: int


def nothing() -> Vocabulary:
    """Return a vocabulary without ids."""
    return Vocabulary(pl.Series("id", [], pl.Int64))


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesState:
    """State after `done` releases.

    `users`, `items`: ids of all releases so far. `streams`: contributions by the name of the total.
    `head`: items of a total of pairs, in order of their entry. `centre`, `means`: released mean
    rating relative to the middle of the scale, and item means relative to it. `undeclared`: public
    parts that were inferred from the ratings at some release.
    """

    terms: SeriesTerms
    done: int = 0
    users: Vocabulary = field(default_factory=nothing)
    items: Vocabulary = field(default_factory=nothing)
    streams: Mapping[str, Contributions] = field(default_factory=dict[str, Contributions])
    head: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    centre: float = 0.0
    means: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    undeclared: frozenset[Part] = frozenset()


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Lock the folder, which is created, for one release.

    Raises `RequestError` if another process has the lock, and for a folder that cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RequestError(f"{folder} cannot be written ({error.strerror}).") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise RequestError(
            f"Another release is being made in {folder}; wait until it ends."
        ) from None
    finally:
        os.close(lock)


def read_state(folder: Path, terms: SeriesTerms) -> SeriesState:
    """Return the state of a series, or the state before its first release.

    Raises `RequestError` for a damaged state, and for one with other terms.
    """
    path = folder / STATE
    if not path.exists():
        return SeriesState(terms=terms)
    try:
        with path.open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            arrays: dict[str, NDArray[Any]] = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
        state = _state(header, arrays)
    except (*archive.DAMAGED, DataError):
        raise RequestError(
            f"{path} is damaged, so the epsilon spent is unknown; restore it from a backup."
        ) from None
    if state.terms != terms:
        raise RequestError(
            f"{folder} is of a series with {_words(state.terms)}, got {_words(terms)}; repeat its "
            "terms, or use another folder."
        )
    return state


def write_state(folder: Path, state: SeriesState, measured: Mapping[str, Longs]) -> None:
    """Write the measurements of the last release, then the state, each atomically."""
    for name, values in measured.items():
        with whole(folder / _file(name, state.done)) as partial, partial.open("wb") as file:
            np.save(file, values, allow_pickle=False)
    header = {
        "format": FORMAT,
        "terms": asdict(state.terms),
        "done": state.done,
        "centre": state.centre,
        "undeclared": sorted(state.undeclared),
        "streams": {name: [each.bound, each.most] for name, each in state.streams.items()},
    }
    arrays: dict[str, NDArray[Any]] = {"head": state.head, "means": state.means}
    arrays |= {"users": archive.to_array(state.users), "items": archive.to_array(state.items)}
    for name, stream in state.streams.items():
        arrays |= {f"{name}/{part}": getattr(stream, part) for part in (*ROWS, *PER_USER)}
    with whole(folder / STATE) as partial:
        archive.write(partial, header, arrays)
        partial.chmod(0o600)


def read_measured(folder: Path, name: str, releases: int) -> list[Longs]:
    """Return the measurements of a total in the first `releases` releases; none where it has none.

    Raises `RequestError` for a file that is missing in between, or damaged.
    """
    every = list[Longs]()
    for number in range(1, releases + 1):
        path = folder / _file(name, number)
        try:
            values = np.load(path, allow_pickle=False)
        except FileNotFoundError:
            if not every:
                continue
            raise RequestError(f"{path} is missing; restore it from a backup.") from None
        except archive.DAMAGED:
            raise RequestError(f"{path} is damaged; restore it from a backup.") from None
        every.append(_checked(values, np.int64, values.shape))
    return every


PER_USER = ("ranked", "spent")


def _file(name: str, number: int) -> str:
    return f"{name}-{number:02}.npy"


def _words(terms: SeriesTerms) -> str:
    return (
        f"{terms.releases} releases of {terms.model} at epsilon {terms.epsilon} per user and delta "
        f"{terms.delta}"
    )


def _state(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SeriesState:
    if header["format"] != FORMAT:
        raise DataError("The state has another format.")
    users, items = (archive.to_vocabulary(arrays[name]) for name in ("users", "items"))
    terms, done = SeriesTerms(**header["terms"]), int(header["done"])
    if not 1 <= done <= terms.releases:
        raise DataError("The number of releases is out of range.")
    streams = {
        name: _stream(name, bounds, arrays, done, len(users), len(items))
        for name, bounds in header["streams"].items()
    }
    head = _within(arrays["head"], arrays["head"].shape, len(items))
    means = _checked(arrays["means"], np.float64, arrays["means"].shape)
    if means.shape not in ((0,), (len(items),)) or not np.isfinite(means).all():
        raise DataError("The item means are not one finite number per item.")
    undeclared = header["undeclared"]
    if not set(undeclared) <= set(PARTS):
        raise DataError("An undeclared part is unknown.")
    return SeriesState(
        terms=terms, done=done, users=users, items=items, streams=streams, head=head,
        centre=float(header["centre"]), means=means, undeclared=frozenset(undeclared),
    )  # fmt: skip


def _stream(
    name: str,
    bounds: list[int],
    arrays: Mapping[str, NDArray[Any]],
    done: int,
    users: int,
    items: int,
) -> Contributions:
    bound, most = (int(each) for each in bounds)
    parts = {part: arrays[f"{name}/{part}"] for part in (*ROWS, *PER_USER)}
    rows, per_user = parts["user"].shape, parts["spent"].shape
    if len(per_user) != 1 or per_user[0] > users:
        raise DataError("The state has too many users.")
    for part, top in (("user", per_user[0]), ("item", items), ("release", done)):
        _within(parts[part], rows, top)
    for part in ("steps", "amounts"):
        _checked(parts[part], np.int32, rows)
    for part in PER_USER:
        if _checked(parts[part], np.int64, per_user).min(initial=0) < 0:
            raise DataError("A count is negative.")
    return Contributions(bound, most, **parts)


def _within(codes: NDArray[Any], shape: tuple[int, ...], size: int) -> Ints:
    checked = _checked(codes, np.int32, shape)
    if len(checked) and not (checked.min() >= 0 and checked.max() < size):
        raise DataError("An index is out of range.")
    return checked


def _checked(array: NDArray[Any], kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    if array.dtype != kind or array.shape != shape:
        raise DataError("An array has another type or shape.")
    return array
