"""Counts of a released batch at the provider: download, opening, and the file of counts.

The key is needed once: after the counts are on disk it is destroyed, and the batch with it. Ranges
of a batch are opened on an engine. Its workers read the key from its file, which is thus the only
copy on a disk.
"""

import json
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request, build_opener

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine, Local, cut
from tacit.errors import CertificateError, DataError, RequestError
from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.task_key import TaskKey
from tacit.whole_files import whole
from tacit.wire import strict
from tacit.wire.origin import is_private
from tacit.wire.shuffled import register
from tacit.wire.shuffled.register import Closing
from tacit.wire.shuffled.task import SEALED_BYTES, ShuffledTask, loads

FORMAT = "tacit-shuffled-counts-1"
KEYS = ("format", "task", "bundles", "counts")
LONGEST = 1 << 28
"""Most bytes of a file of counts."""
CHUNK, SECONDS = 1 << 20, 60.0
OTHER_BATCH = (
    "The batch differs from the one in the register, or its download was interrupted; try again."
)
GONE = 410
"""Status of a batch that was deleted."""
BLOCK = 1 << 16
"""Messages of a batch in memory at a time."""
RANGE = 1 << 22
"""Most messages of a range: some minutes of CPU time."""
WHAT = "The file of counts"


@dataclass(frozen=True, eq=False)
class BucketCounts:
    """Messages per bucket of a task. `bundles`: in its batch. `counts`: shape (buckets,)."""

    task: ShuffledTask
    bundles: int
    counts: NDArray[np.int64]

    @property
    def document(self) -> bytes:
        """The counts as JSON, with the task."""
        values = (FORMAT, self.task.document.decode(), self.bundles, self.counts.tolist())
        return json.dumps(dict(zip(KEYS, values, strict=True)), ensure_ascii=False).encode()


def load_counts(path: Path) -> BucketCounts:
    """Return the counts in a file, and verify their task. Raises `DataError` for another file."""
    fields = strict.fields(strict.parse(path.read_bytes(), WHAT, LONGEST), WHAT, KEYS)
    if fields["format"] != FORMAT:
        raise DataError(f"{path} must have the format {FORMAT}.")
    task = loads(strict.typed(fields, "task", str, WHAT).encode())
    counts = strict.listed(fields["counts"], "counts", strict.integral, WHAT)
    if len(counts) != task.round.buckets:
        raise DataError(f"{path} must have {task.round.buckets} counts, got {len(counts)}.")
    return BucketCounts(task, strict.whole(fields, "bundles", WHAT), np.array(counts, np.int64))


def counts_of(task: ShuffledTask, path: Path) -> BucketCounts | None:
    """Return the counts of a task in a file, None if the file is absent, or is another one."""
    try:
        counts = load_counts(path)
    except (FileNotFoundError, DataError, CertificateError):
        return None
    return counts if counts.task.address == task.address else None


def open_batch(
    path: Path, task: ShuffledTask, key: Path, engine: Engine | None = None
) -> BucketCounts:
    """Return the counts of a batch. Repeated and invalid messages are not counted.

    `key`: file of the task's private key. `engine`: opens ranges of the batch, by default in this
    process; all of its workers must be able to read both files under these paths. The counts are
    the same on every engine.

    The batch is read twice, in blocks: nothing is opened before its size is checked. Raises
    `RequestError` for a key of another task, and for an incomplete message, `CertificateError` for
    fewer bundles than the task requires, and `DataError` for messages that are not in order.
    """
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


def _chunks(response: Any) -> Iterator[bytes]:
    """Yield the content of a response. Raises `DataError` if it is interrupted."""
    try:
        while chunk := response.read(CHUNK):
            yield chunk
    except (HTTPException, OSError):
        raise DataError(OTHER_BATCH) from None


class ShufflerSession:
    """Requests of a provider to the shuffler of a task. `token`: the provider's.

    Raises `RequestError` for a shuffler without https that is not on this machine.
    """

    def __init__(self, task: ShuffledTask, token: str) -> None:
        if not is_private(task.shuffler):
            raise RequestError(f"Tokens are sent over https only, but {task.shuffler} uses http.")
        self._task, self._token = task, token
        self._open = build_opener().open

    def closing(self) -> Closing:
        """Return the closing of the task by the public register.

        Raises `RequestError` if the task is not closed, or its batch was not released.
        """
        with self._request("GET", "/v1/register") as response:
            listed = register.loads(response.read(register.LONGEST + 1))
        result = listed.closed.get(self._task.address)
        if result is None:
            raise RequestError("The task is not closed yet; try again after its closing time.")
        if result.batch is None:
            raise RequestError(
                f"The batch was not released: it had {result.bundles} bundles, and the task "
                f"requires {self._task.certificate.bundles}. Write a new task."
            )
        return result

    def download(self, path: Path, batch: str | None) -> None:
        """Write the batch to a file, atomically. `batch`: its SHA-256 by the register.

        Raises `RequestError` if the shuffler refuses, and `DataError` for another batch, such as a
        part of it.
        """
        digest = sha256()
        with self._request("GET", self._path) as response, whole(path) as partial:
            with open(partial, "wb") as written:
                for chunk in _chunks(response):
                    digest.update(chunk)
                    written.write(chunk)
            if digest.hexdigest() != batch:
                raise DataError(OTHER_BATCH)

    def delete(self) -> None:
        """Delete the batch at the shuffler, if it is there.

        Raises `RequestError` if the shuffler refuses.
        """
        self._request("DELETE", self._path, {GONE}).close()

    @property
    def _path(self) -> str:
        return f"/v1/tasks/{self._task.address}/batch"

    def _request(self, method: str, path: str, allowed: Collection[int] = ()) -> Any:
        headers = {"authorization": f"Bearer {self._token}"}
        message = Request(self._task.shuffler + path, headers=headers, method=method)
        try:
            return self._open(message, timeout=SECONDS)
        except HTTPError as error:
            if error.code in allowed:
                return error
            with error:
                raise RequestError(
                    f"The shuffler refuses the request (status {error.code})."
                ) from None
        except (URLError, HTTPException, OSError) as error:
            cause = getattr(error, "reason", error)
            raise RequestError(f"The shuffler cannot be reached: {cause}.") from None
