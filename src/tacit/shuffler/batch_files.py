"""Files of a shuffler: its register, and the batch of a closed task until the provider has it.

A batch contains the messages of all bundles in the order of their bytes. Its content is a function
of the set of messages alone: it does not depend on who sent which message, in which order or when,
and a batch that is computed again after a crash has the same bytes. The same holds for the file of
signed tokens, which is apart from the messages.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from tacit.errors import RequestError
from tacit.whole_files import whole, write_whole
from tacit.wire.shuffled import register
from tacit.wire.shuffled.blind_tokens import SIGNED_BYTES
from tacit.wire.shuffled.register import Register
from tacit.wire.shuffled.task import SEALED_BYTES

PARTS = 256
"""Parts of a batch, by the first byte of a message, of which one is sorted at a time."""
TOKENS = ".tokens"
"""Suffix of a file of signed tokens, next to its batch."""


class RegisterFile:
    """The register in a file. `current`: its last version, which is on disk.

    Raises `DataError` for a damaged file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.current = register.loads(path.read_bytes() if path.exists() else b"")

    def add(self, change: Callable[[Register], bytes]) -> None:
        """Add a line, durably. `change`: adds it to a register. Raises what `change` raises."""
        changed = register.loads(self.current.document)
        change(changed)
        write_whole(self._path, changed.document)
        self.current = changed


class BatchFiles:
    """Batches in a folder, one file per task."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for partial in folder.glob("part-*"):  # of a process that was killed
            partial.unlink()

    def path(self, task: str) -> Path:
        """Return the path of the batch of a task, which exists until it is deleted."""
        return self._folder / f"{task}.batch"

    def write(self, task: str, bundles: Iterable[bytes]) -> str:
        """Write the batch of all bundles, atomically and durably. Returns its SHA-256."""
        digest, parts = sha256(), self._folder / "parts"
        rmtree(parts, ignore_errors=True)  # of a process that was killed
        parts.mkdir(mode=0o700)
        with whole(self.path(task)) as partial, open(partial, "wb") as batch:
            for path in _divided(bundles, parts):
                ordered = b"".join(sorted(messages_of(path.read_bytes())))
                digest.update(ordered)
                batch.write(ordered)
        rmtree(parts)
        return digest.hexdigest()

    def write_tokens(self, task: str, signed: Iterable[bytes]) -> None:
        """Write the signed tokens of all bundles in the order of their bytes, as `write`."""
        write_whole(self.path(task).with_suffix(TOKENS), b"".join(sorted(signed)))

    def delete(self, task: str) -> bool:
        """Delete the batch of a task, and its tokens. Returns whether the batch existed."""
        self.path(task).with_suffix(TOKENS).unlink(missing_ok=True)
        try:
            self.path(task).unlink()
        except FileNotFoundError:
            return False
        return True


def messages_of(content: bytes) -> list[bytes]:
    """Return the sealed messages of a bundle or a batch.

    Raises `RequestError` if it is not a number of complete messages.
    """
    return _parts(content, SEALED_BYTES, "A batch")


def tokens_of(content: bytes) -> list[bytes]:
    """Return the signed tokens of a file of tokens.

    Raises `RequestError` if it is not a number of complete ones.
    """
    return _parts(content, SIGNED_BYTES, "A file of tokens")


def _parts(content: bytes, size: int, what: str) -> list[bytes]:
    """Return the parts of a content that have `size` bytes each."""
    if len(content) % size:
        raise RequestError(f"{what} must have a multiple of {size} bytes, got {len(content)}.")
    return [content[at : at + size] for at in range(0, len(content), size)]


def _divided(bundles: Iterable[bytes], folder: Path) -> list[Path]:
    """Write the messages to files by their first byte, so that memory holds one part at a time."""
    paths = [folder / f"{first}" for first in range(PARTS)]
    with ExitStack() as stack:
        files = [stack.enter_context(open(path, "wb")) for path in paths]
        for bundle in bundles:
            for message in messages_of(bundle):
                files[message[0]].write(message)
    return paths
