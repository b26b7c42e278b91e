"""What a refit of a map needs, in a folder: the memory of `nx-map`, and the record of releases.

The folder stays with the provider. Its memory is computed from true ratings without noise. Every
private map is another release of the same users' ratings, so their epsilons and deltas add up.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.atomic_files import atomic, write_atomically
from tacit.crossdomain.x_map.refit import Memory, Pass, Stage
from tacit.crossdomain.x_map.x_map import XMap
from tacit.errors import DataError, RequestError
from tacit.kernels.neighbourhood.search_results import Near
from tacit.models.archive import DAMAGED
from tacit.privacy.guarantee import PARTS as GUARANTEE_PARTS
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.ledger import epsilon_text
from tacit.scale import shortest
from tacit.training.continual.state_file import locked
from tacit.vocabulary import Vocabulary
from tacit.wire import strict

Arrays = dict[str, NDArray[Any]]
MEMORY, RELEASES = "nx-map.npz", "releases.json"
FORMAT = "tacit-map-memory-1"
PARTS = ("rows", "columns", "code", "s", "same", "both", "complete")
FAILING = ("x-map",)
"""Systems whose claim fails."""
EARLIER = "an earlier map was released under the claim of x-map, which fails"
REMEDY = "delete it to compare all items again"


def write_memory(folder: Path, memory: Memory, system: XMap) -> None:
    """Write the memory of a fit atomically. Creates the folder."""
    ids = memory.items.ids
    arrays: Arrays = {
        "header": _header(system),
        "items": ids.to_numpy().astype("i8" if ids.dtype.is_integer() else "U"),
    }
    for name, stage in memory.stages.items():
        arrays[f"{name}/prints"] = stage.prints
        for number, one in stage.passes.items():
            parts = (one.rows, one.columns, *one.near, one.complete)
            arrays |= {f"{name}/{number}/{p}": a for p, a in zip(PARTS, parts, strict=True)}
    folder.mkdir(0o700, parents=True, exist_ok=True)
    with atomic(folder / MEMORY, private=True) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]


def read_memory(folder: Path, system: XMap) -> Memory:
    """Return the memory of the last fit, or an empty one.

    Raises `RequestError` for a damaged file, and for one of other settings.
    """
    path = folder / MEMORY
    if not path.exists():
        return Memory.empty()
    try:
        with path.open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = arrays.pop("header")
        memory = _memory(arrays)
    except (*DAMAGED, DataError):
        raise RequestError(f"{path} is damaged; {REMEDY}.") from None
    if not np.array_equal(header, _header(system)):
        raise RequestError(f"{path} is of a fit with other settings; repeat them, or {REMEDY}.")
    return memory


def _header(system: XMap) -> NDArray[np.uint8]:
    """Return the format and the settings that neighbours depend on."""
    settings = asdict(replace(system, draws=None, decay=0.0))
    return np.frombuffer(json.dumps([FORMAT, settings], sort_keys=True).encode(), np.uint8)


def _memory(arrays: Arrays) -> Memory:
    items = Vocabulary(pl.Series("id", arrays.pop("items")))
    stages: dict[str, Stage] = {}
    for name in dict.fromkeys(key.split("/")[0] for key in arrays):
        mine = {key.split("/", 1)[1]: a for key, a in arrays.items() if key.startswith(f"{name}/")}
        prints = _checked(mine.pop("prints"), np.uint64, (len(items), 2))
        numbers = sorted({int(key.split("/")[0]) for key in mine})
        passes = {n: _pass([mine[f"{n}/{part}"] for part in PARTS], len(items)) for n in numbers}
        stages[name] = Stage(prints, passes)
    return Memory(items, stages)


def _pass(parts: Sequence[NDArray[Any]], n_items: int) -> Pass:
    rows, columns, code, s, same, both, complete = parts
    shape = (len(rows), code.shape[1])
    for array, kind, size in (
        (rows, np.int32, rows.shape), (columns, np.int32, columns.shape), (code, np.int32, shape),
        (s, np.float64, shape), (same, np.int32, shape), (both, np.int32, shape),
        (complete, np.bool_, rows.shape),
    ):  # fmt: skip
        _checked(array, kind, size)
    for array, least in ((rows, 0), (columns, 0), (code, -1)):
        if len(array) and not (least <= array.min(initial=0) and array.max(initial=0) < n_items):
            raise DataError("An index is out of range.")
    return Pass(rows, columns, Near(code, s, same, both), complete)


def _checked(array: NDArray[Any], kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    if array.dtype != kind or array.shape != shape or not np.isfinite(array).all():
        raise DataError("An array has another type or shape.")
    return array


@dataclass(frozen=True)
class Release:
    """One private map: its system, and its epsilon and delta, decimal strings.

    `uncovered`, `assumptions`: of its guarantee, as its ratings add them.
    """

    model: str
    epsilon: str
    delta: str
    uncovered: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


def debit(folder: Path, release: Release) -> tuple[Release, ...]:
    """Record a release before it is made, and return all releases so far.

    A release whose fit fails later stays in the record, because its noise may have been seen.
    Raises `RequestError` for a damaged record, for a release that could not be read again, and
    while another process writes it.
    """
    path = folder / RELEASES
    with locked(folder):  # or one of two records would be lost
        every = (*_releases(path), release)
        content = json.dumps([asdict(each) for each in every], indent=1).encode()
        try:
            _parsed(content)
        except (*DAMAGED, DataError) as error:
            raise RequestError(f"{path} cannot record this release: {error}") from None
        write_atomically(path, content)
    return every


def _releases(path: Path) -> tuple[Release, ...]:
    if not path.exists():
        return ()
    try:
        return _parsed(path.read_bytes())
    except (*DAMAGED, DataError):
        raise RequestError(
            f"{path} is damaged, so the epsilon spent is unknown; restore it from a backup."
        ) from None


def _parsed(content: bytes) -> tuple[Release, ...]:
    document = strict.parse(content, "the record", 1 << 20)
    return strict.listed(document, "releases", _release, "the record")


def _release(value: Any) -> Release:
    """Parse one release. Raises `DataError` or `RequestError` for a malformed one."""
    keys, more = ("model", "epsilon", "delta"), ("uncovered", "assumptions")
    is_first = isinstance(value, dict) and "uncovered" not in value
    known = strict.fields(value, "a release", keys if is_first else (*keys, *more))
    if not 0 <= Decimal(known["delta"]) < 1:
        raise DataError(f"delta must be from 0 to 1, got {known['delta']}")
    # A record of an earlier version does not state what its guarantee left out.
    lists = [list(GUARANTEE_PARTS.values()), []] if is_first else [known[key] for key in more]
    parts = [strict.listed(each, "parts", strict.text, "a release") for each in lists]
    return Release(str(known["model"]), epsilon_text(known["epsilon"]), known["delta"], *parts)


def composed(guarantee: Guarantee, releases: Sequence[Release]) -> Guarantee:
    """Return the guarantee of all releases together, the last of which has `guarantee`.

    By basic composition: epsilons and deltas add up (Dwork et al. 2006). With a claim among them
    that fails, the sum fails as well.
    """
    if len(releases) == 1:
        return guarantee
    failing = any(each.model in FAILING for each in releases)
    uncovered = {part for each in releases for part in each.uncovered} | {*guarantee.uncovered}
    assumptions = (part for each in releases for part in each.assumptions)
    return replace(
        guarantee,
        uncovered=tuple(part for part in GUARANTEE_PARTS.values() if part in uncovered),
        assumptions=tuple(dict.fromkeys((*guarantee.assumptions, *assumptions))),
        epsilon=shortest(sum((Decimal(each.epsilon) for each in releases), Decimal(0))),
        delta=shortest(sum((Decimal(each.delta) for each in releases), Decimal(0))),
        released=f"{len(releases)} maps, the last with {guarantee.released}",
        fails=guarantee.fails or (EARLIER if failing else None),
    )
