"""Format detection of files, folders and archives, by name and first bytes.

Readers of plug-ins are tried after the built-in ones, or used by name.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import DataError, RequestError
from tacit.readers.format import Format, Request
from tacit.readers.formats.headerless import LIBIMSETI, ML_1M, ML_100K
from tacit.readers.formats.jester import JESTER
from tacit.readers.formats.json_lines import JSON_LINES
from tacit.readers.formats.netflix import NETFLIX
from tacit.readers.formats.pivot import PIVOT
from tacit.readers.formats.sparse import SPARSE
from tacit.readers.formats.table import ML_CSV, RECBOLE, TABLE
from tacit.readers.source import Source, sources_in
from tacit.registry import Registry

_BUILT_IN = {
    each.name: each
    for each in (
        ML_100K, ML_1M, ML_CSV, NETFLIX, JESTER, LIBIMSETI, RECBOLE, JSON_LINES, SPARSE, TABLE,
        PIVOT,
    )
}  # fmt: skip


def _format(name: str, declared: Any) -> Format:
    if not isinstance(declared, Format):
        raise RequestError(f"{declared!r} is not a Format")
    if declared.name != name:
        raise RequestError(f"its name attribute is '{declared.name}'")
    return declared


FORMATS = Registry("readers", _BUILT_IN, _format)
"""Formats by name, in the order of detection."""


@dataclass(frozen=True)
class Candidate:
    """The files of one data set, and their format."""

    format: Format
    sources: tuple[Source, ...]


def detect(path: Path, format: str | None, request: Request) -> Candidate:
    """Detect the single data set at `path`.

    In a folder or an archive, files must match a format by name and content. For a single file
    either is enough. Raises `DataError` for none or several, with their names.
    """
    formats = [_named(format)] if format else list(_BUILT_IN.values())
    if request.columns.are_positions:
        formats = [_positional(format)]
    sources = sources_in(path)
    if len(sources) == 1 and (path.is_file() or format):
        return Candidate(_of_file(sources[0], formats, request), (sources[0],))
    candidates = _candidates(sources, formats, request)
    if not candidates and not format:
        candidates = _candidates(sources, list(_plugged()), request)
    if len(candidates) > 1:
        names = " and ".join(_label(candidate) for candidate in candidates)
        raise DataError(f"{path} contains more than one data set, {names}; name one of them.")
    if not candidates:
        raise DataError(f"{path} contains no ratings in a known format; name the file itself.")
    return candidates[0]


def _positional(format: str | None) -> Format:
    if format not in (None, TABLE.name):
        raise RequestError(f"columns as positions require the format table, got '{format}'.")
    return TABLE


def _named(format: str) -> Format:
    if format not in FORMATS:
        raise RequestError(f"format must be one of {', '.join(FORMATS)}, got '{format}'.")
    return FORMATS[format]


def _plugged() -> Iterator[Format]:
    """Yield the readers of plug-ins. Those that cannot be loaded are skipped."""
    for name in FORMATS:
        if name not in _BUILT_IN:
            with suppress(RequestError):
                yield FORMATS[name]


def _of_file(source: Source, formats: Sequence[Format], request: Request) -> Format:
    if not source.head.strip():
        raise DataError(f"{source} is empty; name a file with ratings.")
    if len(formats) == 1:
        return formats[0]
    called = [format for format in formats if format.named(source)]
    matches = _looking(source, formats, request) or _looking(source, _plugged(), request) or called
    if matches:
        return matches[0]
    raise DataError(
        f"{source} is in an unknown format; specify its format, one of {', '.join(FORMATS)}."
    )


def _looking(source: Source, formats: Iterable[Format], request: Request) -> list[Format]:
    """Return the formats that match the first bytes, first those that match the name as well."""
    looking = [format for format in formats if format.looks(source, request)]
    return sorted(looking, key=lambda format: not format.named(source))


def _candidates(
    sources: Sequence[Source], formats: Sequence[Format], request: Request
) -> list[Candidate]:
    by_format: dict[str, list[Source]] = {}
    for source in sources:
        called = [format for format in formats if format.named(source)]
        if not called:
            continue
        match = next((format for format in called if format.looks(source, request)), None)
        if match is not None:
            by_format.setdefault(match.name, []).append(source)
    return [
        Candidate(FORMATS[name], group)
        for name, files in by_format.items()
        for group in ([tuple(files)] if FORMATS[name].parts else [(file,) for file in files])
    ]


def _label(candidate: Candidate) -> str:
    first, *more = candidate.sources
    return f"{first.path.name if first.member is None else first.member}" + (" .." if more else "")
