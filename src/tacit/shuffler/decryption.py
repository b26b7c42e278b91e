"""Decryption of a released batch at the provider, into its file of counts.

The key is needed once: after the counts are on disk it is destroyed, and the batch with it. Ranges
of a batch are opened on an engine. Its workers read the key from its file, which is thus the only
copy on a disk.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.collection.shuffled.counts import BucketCounts
from tacit.engines.engine import Engine, Local, cut
from tacit.errors import CertificateError, DataError, RequestError
from tacit.shuffler.batch_files import messages_of, tokens_of
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled.blind_tokens import TOKEN_BYTES
from tacit.wire.shuffled.task import SEALED_BYTES, ShuffledTask, is_signed_token

BLOCK = 1 << 16
"""Messages of a batch in memory at a time."""
RANGE = 1 << 22
"""Most messages of a range: some minutes of CPU time."""


def open_batch(
    path: Path,
    task: ShuffledTask,
    key: Path,
    engine: Engine | None = None,
    *,
    tokens: Path | None = None,
) -> BucketCounts:
    """Return the counts of a batch. Repeated and invalid messages are not counted.

    `key`: file of the task's private key. `engine`: opens ranges of the batch, by default in this
    process; all of its workers must be able to read both files under these paths. The counts are
    the same on every engine. `tokens`: file of the batch's signed tokens, for a task that requires
    them.

    The batch is read twice, in blocks: nothing is opened before its size is checked. Raises
    `RequestError` for a key of another task, for an incomplete message, and without required
    tokens, `CertificateError` for fewer bundles or tokens than the task requires, and `DataError`
    for messages that are not in order.
    """
    check_tokens(tokens, task)
    inputs = RangeInputs(
        key=str(key.resolve()),
        public=task.key.hex(),
        address=task.address,
        buckets=task.round.buckets,
    )
    task_key(inputs)
    # A shuffler that replays bundles must not reach the least number with copies.
    messages = sum(1 for _ in distinct_messages(path))
    bundles = messages * SEALED_BYTES // task.bundle_bytes
    if bundles < task.certificate.bundles:
        raise CertificateError(
            f"The batch has {bundles} bundles, but the task requires {task.certificate.bundles}, "
            "so its messages are not opened."
        )
    chosen = Local() if engine is None else engine
    results = chosen.over(open_range, batch_ranges(path, chosen), inputs)
    if sum(each.messages for each in results) != messages:
        raise DataError(f"{path} was changed while it was opened, or differs between workers.")
    counts = np.zeros(task.round.buckets, np.int64)
    for each in results:
        counts += each.counts
    return BucketCounts(task, bundles, counts)


def check_tokens(path: Path | None, task: ShuffledTask) -> None:
    """Check that enough people have sent a bundle: each has one token that the provider signed.

    `path`: file of the signed tokens. Raises `CertificateError` for fewer different tokens with a
    valid signature than the least number of bundles, and `RequestError` without a file.
    """
    if task.signer is None:
        return
    if path is None:
        raise RequestError("The task requires signed tokens; name the file of those of its batch.")
    signed = set(tokens_of(path.read_bytes()))
    valid = len({each[:TOKEN_BYTES] for each in signed if is_signed_token(each, task)})
    if valid < task.certificate.bundles:
        raise CertificateError(
            f"The batch has {valid} valid tokens, but the task requires "
            f"{task.certificate.bundles}, so its messages are not opened."
        )


class BatchRange(NamedTuple):
    """Messages `first` to `last`, excluded, of the batch at `path`."""

    path: str
    first: int
    last: int


class RangeInputs(NamedTuple):
    """Shared inputs of all ranges. `key`: path of the key file. `public`: its public key, in
    hexadecimal. `address`, `buckets`: of the task."""

    key: str
    public: str
    address: str
    buckets: int


class RangeCounts(NamedTuple):
    """Counts of a range. `messages`: its different messages, counted or not."""

    counts: NDArray[np.int64]
    messages: int


def batch_ranges(path: Path, engine: Engine) -> list[BatchRange]:
    """Divide a batch into ranges, at least as many as the engine has blocks."""
    total = -(-path.stat().st_size // SEALED_BYTES)
    pieces = cut(total, max(engine.blocks, -(-total // RANGE)))
    return [BatchRange(str(path.resolve()), each.start, each.stop) for each in pieces]


def open_range(block: BatchRange, shared: RangeInputs) -> RangeCounts:
    """Return the counts of a range: the kernel of `open_batch`. Raises as it does."""
    key, counts, total = task_key(shared), np.zeros(shared.buckets, np.int64), 0
    messages = distinct_messages(Path(block.path), block.first, block.last)
    while some := list(islice(messages, BLOCK)):
        counts += key.open(some, shared.address, shared.buckets).counts
        total += len(some)
    return RangeCounts(counts, total)


def task_key(shared: RangeInputs) -> TaskKey:
    """Return the private key. Raises `RequestError` for that of another task."""
    with readable(Path(shared.key)):
        key = TaskKey.load(Path(shared.key))
    if key.public.hex() != shared.public:
        raise RequestError("This key is of another task; name the key file of this one.")
    return key


@contextmanager
def readable(path: Path) -> Generator[None]:
    """Raise `RequestError` if a worker cannot read a file."""
    try:
        yield
    except OSError as error:
        raise RequestError(
            f"{path} cannot be read: {error.strerror}. The batch and the key must be in a folder "
            "that all workers can reach."
        ) from None


def distinct_messages(path: Path, first: int = 0, last: int | None = None) -> Iterator[bytes]:
    """Yield the different messages of a batch, which is in the order of their bytes.

    `first`, `last`: range of messages, by default all. A message that the one before the range
    equals is not yielded. Raises `DataError` for another order, and `RequestError` for an
    incomplete message, and if the file cannot be read.
    """
    with readable(path), open(path, "rb") as batch:
        end = -(-path.stat().st_size // SEALED_BYTES) if last is None else last
        batch.seek(max(first - 1, 0) * SEALED_BYTES)
        previous = batch.read(SEALED_BYTES) if first else b""
        for start in range(first, end, BLOCK):
            content = batch.read(min(BLOCK, end - start) * SEALED_BYTES)
            for message in messages_of(content):
                if message < previous:
                    raise DataError(f"{path} is not a batch: its messages are not in order.")
                if message != previous:
                    yield message
                previous = message
