"""Checks of output paths, before a long run."""

from collections.abc import Sequence
from pathlib import Path

from tacit.errors import RequestError

ROWS = (".parquet",)
"""Suffixes of files that are written next to the JSON of rows."""


def writable(*paths: Path | None, read: Sequence[object] = (), beside: Sequence[str] = ()) -> None:
    """Raise `RequestError` for an output that cannot be written, or that would replace an input.

    `read`: the inputs. Those that are not paths are ignored. `beside`: suffixes of files that are
    written next to each of `paths`.
    """
    sources = {Path(source).resolve() for source in read if isinstance(source, str | Path)}
    for path in filter(None, paths):
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise RequestError(f"{path} cannot be written; name a file in a folder that exists.")
        for target in (path, *map(path.with_suffix, beside)):
            if target.resolve() in sources:
                raise RequestError(
                    f"{target} is an input and would be overwritten; choose another name for the "
                    "result."
                )
