"""Sources of bytes: plain and compressed files and members of archives, in blocks of lines."""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO

from tacit.errors import DataError

BLOCK = 1 << 24
HEAD = 1 << 14
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
SUBFOLDERS = ("training_set",)
LONGEST_LINE = 1 << 22
"""Maximum line length in bytes, to bound the memory for files that are not tables."""
BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, tarfile.TarError)
COMPRESSED: dict[re.Pattern[bytes], Callable[[BinaryIO], Any]] = {
    re.compile(rb"\x1f\x8b"): gzip.open,
    re.compile(rb"BZh[1-9]1AY&SY"): bz2.open,
    re.compile(rb"\xfd7zXZ\x00"): lzma.open,
}
"""Openers by the first bytes of a compressed file."""
SUFFIXES = (".gz", ".bz2", ".xz")
TAR = re.compile(r".*\.(tar(\.(gz|bz2|xz))?|tgz)")
UNSOUND = (*BROKEN, RuntimeError, UnicodeDecodeError)
"""Exceptions of a malformed archive, such as undecodable names or unknown compression methods."""


@dataclass(frozen=True)
class Block:
    """Complete lines of a file, starting with line `first_line` (counted from 1)."""

    first_line: int
    data: bytes


@dataclass(frozen=True)
class Source:
    """A stream of bytes: a plain or compressed file, or a `member` of a zip or tar archive.

    gzip, bzip2 and xz are detected by their first bytes, independent of the file name.
    """

    path: Path
    member: str | None = None

    @property
    def name(self) -> str:
        """File name in lower case, without `.gz`, `.bz2` or `.xz`, for format detection."""
        name = Path(self.member or self.path).name.lower()
        suffix = next((each for each in SUFFIXES if name.endswith(each)), "")
        return name.removesuffix(suffix)

    @property
    def is_plain(self) -> bool:
        """Whether the file is read as it is: no archive's member, and not compressed."""
        return self.member is None and not self.path.name.lower().endswith(SUFFIXES)

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}:{self.member}"

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """Open the decompressed stream. Raises `DataError` if the file cannot be read."""
        try:
            with self._packed() as raw:
                first = raw.read(16)
                raw.seek(0)
                openers = [COMPRESSED[magic] for magic in COMPRESSED if magic.match(first)]
                if openers:
                    with openers[0](raw) as file:
                        yield io.BufferedReader(file)
                else:
                    yield raw
        except BROKEN as broken:
            raise DataError(
                f"{self} cannot be read ({_reason(broken)}); download or compress the file again."
            ) from broken

    @cached_property
    def head(self) -> bytes:
        """The first 16 KiB, without a byte order mark."""
        with self.open() as file:
            return self._unmarked(file.read(HEAD))

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Yield the file in order, in blocks of about `size` bytes.

        Raises `DataError` for UTF-16, for a line longer than `LONGEST_LINE`, and for a truncated
        compressed stream, with the last readable line.
        """
        line, rest = 1, b""
        with self.open() as file:
            while chunk := self._read(file, size, line):
                text = self._unmarked(chunk) if line == 1 and not rest else rest + chunk
                cut = text.rfind(b"\n") + 1
                if cut:
                    yield Block(line, text[:cut])
                    line += text.count(b"\n", 0, cut)
                rest = text[cut:]
                if len(rest) > LONGEST_LINE:
                    raise DataError(
                        f"{self}, line {line}: the line is longer than {LONGEST_LINE:,} bytes, so "
                        "this is not a table of ratings; name another file."
                    )
        if rest.strip():
            yield Block(line, rest)

    @contextmanager
    def _packed(self) -> Generator[BinaryIO]:
        if self.member is None:
            with self.path.open("rb") as file:
                yield file
        elif _is_tar(self.path):
            with tarfile.open(self.path) as tar:
                yield io.BufferedReader(_extracted(tar, self.member))  # pyright: ignore[reportArgumentType]
        else:
            with zipfile.ZipFile(self.path) as archive, _opened(archive, self.member) as member:
                yield io.BufferedReader(member)  # pyright: ignore[reportArgumentType]

    def _read(self, file: BinaryIO, size: int, line: int) -> bytes:
        try:
            return file.read(size)
        except BROKEN as broken:
            raise DataError(
                f"{self} is truncated after line {line} ({_reason(broken)}); download the file "
                "again."
            ) from broken

    def _unmarked(self, start: bytes) -> bytes:
        if start.startswith(UTF16_MARKS):
            raise DataError(f"{self}, line 1: the text is UTF-16; save the file as UTF-8.")
        if b"\r" in start.rstrip(b"\r") and b"\n" not in start:
            raise DataError(f"{self}, line 1: lines end in CR only; save the file with LF or CRLF.")
        return start.removeprefix(UTF8_MARK)


def _opened(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    try:
        return archive.open(member)
    except UNSOUND as error:
        raise zipfile.BadZipFile(_reason(error)) from error


def _extracted(archive: tarfile.TarFile, member: str) -> IO[bytes]:
    """Return the stream of a member; nothing is written to disk."""
    stream = archive.extractfile(member)
    if stream is None:
        raise tarfile.ReadError(f"{member} is not a file")
    return stream


def _is_tar(path: Path) -> bool:
    return TAR.fullmatch(path.name.lower()) is not None


def _reason(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.rstrip(".").splitlines()[0] if text else type(error).__name__


def sources_in(path: Path) -> list[Source]:
    """Return the files at `path`: a file, those of a folder, or the members of an archive.

    Raises `DataError` for a missing path, and for a damaged archive.
    """
    if path.is_dir():
        folders = [path, *(path / name for name in SUBFOLDERS if (path / name).is_dir())]
        files = sorted(file for folder in folders for file in folder.iterdir() if file.is_file())
        return [source for file in files for source in sources_in(file)]
    if not path.exists():
        raise DataError(f"{path} does not exist; check the name or see tacit download --help.")
    is_archive = path.suffix.lower() == ".zip" or _is_tar(path)
    return _members(path) if is_archive else [Source(path)]


def _members(path: Path) -> list[Source]:
    try:
        names = _tar_members(path) if _is_tar(path) else _zip_members(path)
    except UNSOUND as error:
        kind = "tar" if _is_tar(path) else "zip"
        raise DataError(
            f"{path} is not a complete {kind} archive ({_reason(error)}); download it again."
        ) from error
    return [Source(path, name) for name in sorted(names) if not name.startswith("__MACOSX")]


def _zip_members(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return [name for name in archive.namelist() if not name.endswith("/")]


def _tar_members(path: Path) -> list[str]:
    """Return the names of its regular files: a link is not followed."""
    with tarfile.open(path) as archive:
        return [member.name for member in archive if member.isfile()]
