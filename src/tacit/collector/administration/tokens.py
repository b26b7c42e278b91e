"""The token file of a collector: issue, revoke and rotate enrolment tokens.

The file has the SHA-256 of each token. It is replaced atomically, and running collectors reread it.
"""

import fcntl
import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from tacit.atomic_files import atomic
from tacit.collector.ingest.tokens import digests
from tacit.errors import RequestError

TOKEN_BYTES = 16
"""Random bytes of a token: nobody guesses one among 50,000 valid ones."""


def digest_of(token: str) -> str:
    """Return the SHA-256 of a token in hexadecimal; it may be given instead of the token."""
    is_digest = len(token) == 64 and not set(token) - set("0123456789abcdef")
    return token if is_digest else sha256(token.encode()).hexdigest()


def issue(path: Path, count: int) -> list[str]:
    """Add new tokens to the file, created if missing. Returns them: they are stored nowhere."""
    # From the operating system: a token is the right to report.
    tokens = [secrets.token_hex(TOKEN_BYTES) for _ in range(count)]
    with _edited(path) as lines:
        lines.extend(map(digest_of, tokens))
    return tokens


def revoke(path: Path, tokens: Sequence[str]) -> None:
    """Remove tokens from the file, given themselves or by their SHA-256.

    Raises `RequestError` if one of them is not in it; none is removed then.
    """
    with _edited(path) as lines:
        for token in tokens:
            _remove(lines, token, path)


def rotate(path: Path, token: str) -> str:
    """Replace a token by a new one, in one step. Returns the new one.

    Raises `RequestError` if it is not in the file.
    """
    new = secrets.token_hex(TOKEN_BYTES)
    with _edited(path) as lines:
        lines[_remove(lines, token, path) :] = [digest_of(new)]
    return new


def _remove(lines: list[str], token: str, path: Path) -> int:
    """Remove a token; returns the number of remaining lines. `path`: of the file, for messages."""
    if not path.exists():
        raise RequestError(f"{path} does not exist; name the token file of the collector.")
    try:
        lines.remove(digest_of(token))
    except ValueError:
        raise RequestError(f"{path} does not contain this token. Nothing changed.") from None
    return len(lines)


@contextmanager
def _edited(path: Path) -> Generator[list[str]]:
    """Yield the lines of the file to be changed, and replace it by them if the block succeeds."""
    folder = os.open(path.absolute().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # one edit at a time
        lines = path.read_text().split() if path.exists() else []
        digests(lines)
        yield lines
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        with atomic(path, private=True) as partial:
            partial.write_text("".join(f"{line}\n" for line in lines))
            partial.chmod(mode)
    finally:
        os.close(folder)
