"""Whether results can be written where they are to go, asked before hours of work."""

from collections.abc import Sequence
from pathlib import Path

from tacit.errors import RequestError

ROWS = (".parquet",)
"""What is written beside the JSON of rows."""


def writable(*paths: Path | None, read: Sequence[object] = (), beside: Sequence[str] = ()) -> None:
    """Raise `RequestError` for a file that cannot be written, and for one that is to be read.

    `read`: the sources, of which those that are no paths do not count. `beside`: the suffixes of
    what is written beside each of `paths`.
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
