"""State of a series of releases, in a folder that stays with the curator.

`state.npz` contains every user's contributions, which are secret. `counts-01.npy` and the like
contain noisy measurements, which are public. The measurements of a release are written before the
state that counts it, with their SHA-256. After a crash in between, the release is made again, and
the first one was never published: its measurements are not in the state, so no release reads them.
The folder is locked during a release, because two releases of the same number would draw noise
twice for one price. For the same reason a state exists from the begin of the first release, and a
folder that has measurements without one is refused.
"""

import fcntl
import io
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.atomic_files import write_atomically
from tacit.errors import DataError, RequestError
from tacit.models import archive
from tacit.privacy.guarantee import PARTS, Part
from tacit.training.continual.contributions import ROWS, Contributions
from tacit.vocabulary import Vocabulary

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
FORMAT, FIRST_FORMAT = "tacit-releases-2", "tacit-releases-1"
"""The first one has no digests of measurements."""
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
    `head`: items of a total of pairs, in order of their entry. `scale`: of star ratings, None for a
    list model. `centre`, `means`: released mean rating relative to the middle of the scale, and
    item means relative to it. `undeclared`: public parts that were inferred from the ratings at
    some release. `measured`: SHA-256 of each file of measurements, by name.
    """

    terms: SeriesTerms
    done: int = 0
    users: Vocabulary = field(default_factory=nothing)
    items: Vocabulary = field(default_factory=nothing)
    streams: Mapping[str, Contributions] = field(default_factory=dict[str, Contributions])
    head: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    scale: str | None = None
    centre: float = 0.0
    means: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    undeclared: frozenset[Part] = frozenset()
    measured: Mapping[str, str] = field(default_factory=dict[str, str])


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Lock the folder, which is created, for one release.

    Raises `RequestError` if another process has the lock, and for a folder that cannot be written.
    """
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RequestError(f"{folder} cannot be written ({error.strerror}).") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise RequestError(
            f"Another process is making a release in {folder}; wait until it ends."
        ) from None
    finally:
        os.close(lock)


def read_state(folder: Path, terms: SeriesTerms) -> SeriesState:
    """Return the state of a series. Before its first release it is written, with `done` = 0.

    Raises `RequestError` for a damaged or missing state, and for one with other terms.
    """
    path = folder / STATE
    if not path.exists():
        if any(folder.glob("*-[0-9][0-9]*.npy")):
            raise RequestError(
                f"{path} is missing, so the epsilon spent is unknown; restore it from a backup, or "
                "use another folder for a new series, whose epsilon is added."
            )
        write_state(folder, SeriesState(terms=terms), {})
        return SeriesState(terms=terms)
    try:
        with path.open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            arrays: dict[str, NDArray[Any]] = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
        state = _state(header, arrays)
        if header["format"] == FIRST_FORMAT:
            state = replace(state, measured=_digests(folder, state))
    except (*archive.DAMAGED, DataError):
        raise RequestError(
            f"{path} is damaged, so the epsilon spent is unknown; restore it from a backup."
        ) from None
    if not state.done:
        return SeriesState(terms=terms)  # nothing was published under the terms in the file
    if state.terms != terms:
        raise RequestError(
            f"{folder} is of a series with {_words(state.terms)}, got {_words(terms)}; repeat its "
            "terms, or use another folder."
        )
    return state


def write_state(folder: Path, state: SeriesState, measured: Mapping[str, Longs]) -> None:
    """Write the measurements of the last release, then the state, each atomically."""
    for abandoned in folder.glob(f"*-{state.done:02}.npy"):  # of an attempt that failed
        abandoned.unlink()
    digests = dict(state.measured)
    for name, values in measured.items():
        buffer = io.BytesIO()
        np.save(buffer, values, allow_pickle=False)
        file = _file(name, state.done)
        write_atomically(folder / file, buffer.getvalue())
        digests[file] = sha256(buffer.getvalue()).hexdigest()
    header = {
        "format": FORMAT,
        "terms": asdict(state.terms),
        "done": state.done,
        "scale": state.scale,
        "centre": state.centre,
        "undeclared": sorted(state.undeclared),
        "measured": digests,
        "streams": {name: [each.bound, each.most] for name, each in state.streams.items()},
    }
    arrays: dict[str, NDArray[Any]] = {"head": state.head, "means": state.means}
    arrays |= {"users": archive.to_array(state.users), "items": archive.to_array(state.items)}
    for name, stream in state.streams.items():
        arrays |= {f"{name}/{part}": getattr(stream, part) for part in (*ROWS, *PER_USER)}
    archive.write(folder / STATE, header, arrays, private=True)


def read_measured(folder: Path, name: str, state: SeriesState) -> list[Longs]:
    """Return the measurements of a total in the releases of `state` that have one, in order.

    Raises `RequestError` for a file that is missing or is not the one that the state counts.
    """
    numbers = [n for n in range(1, state.done + 1) if _file(name, n) in state.measured]
    if numbers and numbers != list(range(numbers[0], state.done + 1)):
        raise RequestError(f"{folder} lacks measurements of {name}; restore it from a backup.")
    files = [_file(name, number) for number in numbers]
    return [_measurements(folder / file, state.measured[file]) for file in files]


def _measurements(path: Path, digest: str) -> Longs:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise RequestError(f"{path} is missing; restore it from a backup.") from None
    if sha256(content).hexdigest() != digest:
        raise RequestError(f"{path} is damaged; restore it from a backup.")
    return np.load(io.BytesIO(content), allow_pickle=False)


def _digests(folder: Path, state: SeriesState) -> dict[str, str]:
    """Return the digests of all measurements of a state without them, of the streams it has."""
    files = (_file(name, n) for name in TOTALS for n in range(1, state.done + 1))
    return {
        file: sha256((folder / file).read_bytes()).hexdigest()
        for file in files
        if (folder / file).exists()
    }


TOTALS = ("counts", "pairs", "labels")
"""Names of totals."""
PER_USER = ("ranked", "spent")


def _file(name: str, number: int) -> str:
    return f"{name}-{number:02}.npy"


def _words(terms: SeriesTerms) -> str:
    return (
        f"{terms.releases} releases of {terms.model} at epsilon {terms.epsilon} per user and delta "
        f"{terms.delta}"
    )


def _state(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SeriesState:
    if header["format"] not in (FORMAT, FIRST_FORMAT):
        raise DataError("The state has another format.")
    terms, done = SeriesTerms(**header["terms"]), int(header["done"])
    if not 0 <= done <= terms.releases:
        raise DataError("The number of releases is out of range.")
    if done == 0:
        return SeriesState(terms=terms)
    users, items = (archive.to_vocabulary(arrays[name]) for name in ("users", "items"))
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
        scale=header.get("scale"), centre=float(header["centre"]), means=means,
        undeclared=frozenset(undeclared), measured=dict(header.get("measured", {})),
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
