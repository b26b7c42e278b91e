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
from tempfile import SpooledTemporaryFile

from tacit.atomic_files import atomic, write_atomically
from tacit.errors import RequestError
from tacit.wire.shuffled import register
from tacit.wire.shuffled.blind_tokens import SIGNED_BYTES
from tacit.wire.shuffled.register import Register
from tacit.wire.shuffled.task import SEALED_BYTES

PARTS = 256
"""Parts of a batch, by the first byte of a message, of which one is sorted at a time."""
LARGEST_IN_MEMORY = 1 << 16
"""Bytes of a part from which it is in a file without a name, which ends with the process."""
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
        write_atomically(self._path, changed.document)
        self.current = changed


class BatchFiles:
    """Batches in a folder, one file per task."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for partial in folder.glob("part-*"):  # of a process that was killed
            partial.unlink()
        rmtree(folder / "parts", ignore_errors=True)  # of an earlier version that was killed

    def path(self, task: str) -> Path:
        """Return the path of the batch of a task, which exists until it is deleted."""
        return self._folder / f"{task}.batch"

    def write(self, task: str, bundles: Iterable[bytes]) -> str:
        """Write the batch of all bundles, atomically and durably. Returns its SHA-256."""
        digest = sha256()
        with ExitStack() as stack:
            parts = [stack.enter_context(self._part()) for _ in range(PARTS)]
            for bundle in bundles:
                for message in messages_of(bundle):
                    parts[message[0]].write(message)
            with atomic(self.path(task)) as partial, open(partial, "wb") as batch:
                for part in parts:
                    part.seek(0)
                    ordered = b"".join(sorted(messages_of(part.read())))
                    digest.update(ordered)
                    batch.write(ordered)
        return digest.hexdigest()

    def _part(self) -> SpooledTemporaryFile[bytes]:
        return SpooledTemporaryFile(LARGEST_IN_MEMORY, dir=str(self._folder), prefix="part-")

    def write_tokens(self, task: str, signed: Iterable[bytes]) -> None:
        """Write the signed tokens of all bundles in the order of their bytes, as `write`."""
        write_atomically(self.path(task).with_suffix(TOKENS), b"".join(sorted(signed)))

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
