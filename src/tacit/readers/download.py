"""Downloads of archives: verified, resumable and atomic."""

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.errors import DataError, RequestError
from tacit.readers.datasets import DATASETS, Archive

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
            f"{wanted.url} has checksum {actual} instead of {checksum}. The file was "
            "removed; download it again or from another source."
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
