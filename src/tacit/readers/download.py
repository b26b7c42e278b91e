"""Downloads of archives: verified, resumable and atomic."""

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import DataError, RequestError

# Public data sets by name: URL, checksum and licence of each archive.

GROUPLENS = "https://files.grouplens.org/datasets/movielens"
GROUPLENS_LICENCE = (
    "For research; cite Harper and Konstan (2015), and do not redistribute the data or use them "
    "commercially without permission of GroupLens."
)


@dataclass(frozen=True)
class Archive:
    """An archive. `checksum`: "md5:.." or "sha256:..", or None to fetch `url` + ".md5"."""

    name: str
    url: str
    checksum: str | None
    licence: str = GROUPLENS_LICENCE
    note: str = ""


def _movielens(name: str, md5: str | None, note: str = "") -> Archive:
    checksum = None if md5 is None else f"md5:{md5}"
    return Archive(name, f"{GROUPLENS}/{name}.zip", checksum, note=note)


ARCHIVES = (
    _movielens("ml-100k", "0e33842e24a9c977be4e0107933c0723"),
    _movielens("ml-1m", "c4d9eecfca2ab87c1945afe126590906"),
    _movielens("ml-10m", "ce571fd55effeba0271552578f2648bd", "Read it with --scale 0.5:5:0.5."),
    _movielens("ml-20m", "cd245b17a1ae2cc31bb14903e1204af3"),
    _movielens("ml-25m", "6b51fb2759a8657d3bfcbfc42b592ada"),
    _movielens("ml-32m", "d472be332d4daa821edc399621853b57"),
    # GroupLens updates these two, so their checksum is fetched.
    _movielens("ml-latest-small", None),
    _movielens("ml-latest", None),
    Archive(
        "jester",
        "https://eigentaste.berkeley.edu/dataset/archive/jester_dataset_1_1.zip",
        "sha256:cb7841756ded125b15f3d95c9f8241224065e96354c132a46ae4214deeab7615",
        "For research; cite Goldberg, Roeder, Gupta and Perkins, Eigentaste (2001).",
        "It contains an Excel sheet; save it as jester-data-1.csv to read it.",
    ),
)
DATASETS = {archive.name: archive for archive in ARCHIVES}


CHUNK = 1 << 16
TIMEOUT = 30
PARTIAL, RANGE_NOT_SATISFIABLE = 206, 416
HEXADECIMAL = re.compile(rb"\b[0-9a-fA-F]{32}\b")

Progress = Callable[[int, int | None], None]


def archive(name: str) -> Archive:
    """Return the archive of that name. Raises `RequestError` for an unknown name."""
    if name not in DATASETS:
        raise RequestError(f"The data set must be one of {', '.join(DATASETS)}, got '{name}'.")
    return DATASETS[name]


def download(wanted: Archive, folder: Path, progress: Progress = lambda done, total: None) -> Path:
    """Download an archive into `folder`, unless it exists. Returns its path.

    A partial download is kept as a `.part` file, and a later call resumes it. Raises `DataError` if
    the server cannot be reached, if the download stops, and for a wrong checksum, after which the
    file is removed.
    """
    target = folder / wanted.url.rpartition("/")[2]
    checksum = wanted.checksum or published(wanted.url)
    if target.exists() and digest(target, checksum) == checksum:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    fetch(wanted.url, part, progress)
    actual = digest(part, checksum)
    if actual != checksum:
        part.unlink()
        raise DataError(
            f"{wanted.url} has checksum {actual} instead of {checksum}. The file was removed; "
            "download it again, from another source if needed."
        )
    part.replace(target)
    return target


def published(url: str) -> str:
    """Fetch the published MD5 of an archive, as "md5:...". Raises `DataError` without one."""
    with _opened(urllib.request.Request(url + ".md5"), url + ".md5") as answer:
        match = HEXADECIMAL.search(answer.read(CHUNK))
    if match is None:
        raise DataError(f"{url}.md5 contains no MD5 checksum; try again later.")
    return f"md5:{match.group().decode().lower()}"


def fetch(url: str, part: Path, progress: Progress) -> None:
    """Fetch `url` into `part`, resumed if the server supports it.

    Raises `DataError` if the connection is lost.
    """
    begun = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={begun}-"} if begun else {})
    try:
        answer = _opened(request, url)
    except _PastTheEndError:
        return  # complete; the checksum is verified later
    with answer:
        resumed = answer.status == PARTIAL
        done = begun if resumed else 0
        length = answer.headers.get("Content-Length")
        total = None if length is None else done + int(length)
        with part.open("ab" if resumed else "wb") as file:
            for chunk in _chunks(answer, url):
                file.write(chunk)
                done += len(chunk)
                progress(done, total)
    if total is not None and done < total:
        raise DataError(
            f"{url} stopped after {done:,} of {total:,} bytes; run the same command to resume."
        )


def digest(path: Path, like: str) -> str:
    """Return the checksum of a file, of the same kind as `like`: "md5:.." or "sha256:.."."""
    kind = like.partition(":")[0]
    with path.open("rb") as file:
        # The publishers provide MD5. It detects transmission errors, not tampering.
        value = hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False))
    return f"{kind}:{value.hexdigest()}"


class _PastTheEndError(Exception):
    """The requested range starts at the end of the file."""


def _opened(request: urllib.request.Request, url: str) -> Any:
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == RANGE_NOT_SATISFIABLE:
            raise _PastTheEndError from error
        raise DataError(
            f"{url} responded with {error.code} {error.reason}; try again later."
        ) from error
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{url} cannot be reached ({reason}); check the connection and run the command again."
        ) from error


def _chunks(answer: Any, url: str) -> Any:
    while True:
        try:
            chunk = answer.read(CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise DataError(
                f"The download of {url} stopped ({error}); run the same command to resume."
            ) from error
        if not chunk:
            return
        yield chunk
