"""Bundles and signed tokens of open tasks, in the store of a shuffler until a batch is released.

The store has a bundle and its signed token under two numbers, and under two names, which only the
enrolment token of the sender relates. Both are stored in one transaction, and deleted together. The
store shows which tasks have no bundle left, in it and in its log.
"""

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from itertools import product
from pathlib import Path

from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.collector.storage.store import ReportOutcome, ReportStore, StoredReport
from tacit.shuffler.batch_files import BatchFiles
from tacit.wire.shuffled.blind_tokens import SIGNED_BYTES, TOKEN_BYTES
from tacit.wire.shuffled.register import Closing
from tacit.wire.shuffled.task import ShuffledTask

TOKEN_CONTEXT = b"tacit-token-1\n"
"""Begins the document, and the context of names, under which the store has tokens of a task."""
DELETED_CONTEXT = b"tacit-deleted-1\n"
"""Begins the document that the store has of a task whose bundles are deleted."""
READ_BYTES = 1 << 24
"""Most bytes of bundles in memory while a batch is written, if one bundle has no more."""


class HeldBundles:
    """Bundles of all tasks in the store at `path`, whose changes are made by its writer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._numbers: dict[str, int] = {}
        self._token_numbers: dict[str, int] = {}

    def register(self, store: ReportStore, task: ShuffledTask) -> None:
        """Register a task in the store, once."""
        self._numbers[task.address] = store.hold(task.document).number
        if task.signer is not None:
            document = TOKEN_CONTEXT + task.address.encode()
            self._token_numbers[task.address] = store.hold(document).number

    async def add(
        self, writer: Writer, task: ShuffledTask, identity: bytes, bundle: bytes, signed: bytes
    ) -> ReportOutcome:
        """Store the bundle of a token's holder, and the signed token if the task requires one.

        Raises `StoreError` if they are not stored.
        """
        address = task.address
        rows = [row_of(address.encode(), identity, self._numbers[address], bundle)]
        if task.signer is not None:
            context = TOKEN_CONTEXT + address.encode()
            rows.append(row_of(context, identity, self._token_numbers[address], signed))
        # Both rows are in the store, or neither is: they conflict together.
        outcomes = await writer.put(rows)
        is_other = ReportOutcome.CONFLICT in outcomes
        return ReportOutcome.CONFLICT if is_other else outcomes[0]

    async def shut(self, writer: Writer, address: str) -> None:
        """Refuse bundles of a task. Those that were accepted before are committed on return."""
        for number in self._both(address):
            await writer.run(lambda store, number=number: store.shut(number, 0))

    async def delete(self, writer: Writer, address: str) -> None:
        """Delete the bundles and tokens of a task, which the log of the store may still contain."""
        for number, byte in product(self._both(address), range(256)):
            await writer.run(lambda store, number=number, byte=byte: store.forget(number, 0, byte))

    async def confirm(self, writer: Writer, address: str) -> None:
        """Store durably that neither the store nor its log has a bundle of a task."""
        await writer.run(lambda store: store.hold(DELETED_CONTEXT + address.encode()))

    def release(self, task: ShuffledTask, files: BatchFiles) -> Closing:
        """Write the batch if it has enough bundles, and as many different tokens.

        Returns the closing. Without a batch, its number is the smaller one of both.
        """
        with closing(SqliteReader(str(self._path))) as reader:
            number = self._numbers[task.address]
            bundles = sum(count for each, _, count in reader.counts() if each == number)
            signed = self._signed(reader, task)
            people = bundles if task.signer is None else min(bundles, len(signed))
            if people < task.certificate.bundles:
                return Closing(bundles=people, batch=None)
            if task.signer is not None:
                files.write_tokens(task.address, signed.values())
            digest = files.write(task.address, _contents(reader, number, task.bundle_bytes))
            return Closing(bundles=bundles, batch=digest)

    def _signed(self, reader: SqliteReader, task: ShuffledTask) -> dict[bytes, bytes]:
        """Return the signed tokens by token: one that two people send is counted once."""
        if task.signer is None:
            return {}
        stored = _contents(reader, self._token_numbers[task.address], SIGNED_BYTES)
        return {signed[:TOKEN_BYTES]: signed for signed in stored}

    def _both(self, address: str) -> list[int]:
        """Return the numbers of bundles and tokens of a task in the store."""
        tokens = self._token_numbers.get(address)
        return [self._numbers[address], *(() if tokens is None else (tokens,))]


def deleted_tasks(store: ReportStore) -> set[str]:
    """Return the addresses of tasks whose deletion was confirmed."""
    documents = [held.document for held in store.tasks()]
    return {
        document.removeprefix(DELETED_CONTEXT).decode()
        for document in documents
        if document.startswith(DELETED_CONTEXT)
    }


def row_of(context: bytes, identity: bytes, number: int, content: bytes) -> StoredReport:
    """Return a row of a token's holder, whose name in another context is not comparable.

    The name is deleted with the row.
    """
    name = sha256(b"tacit-bundle-1\n" + context + identity).digest()[:16]
    return StoredReport(name, number, 0, 0, name, content)


def _contents(reader: SqliteReader, number: int, size: int) -> Iterator[bytes]:
    """Yield the stored bundles or tokens under a number, of `size` bytes each."""
    for rows in reader.scan(number, max(1, READ_BYTES // size)):
        for row in rows:
            yield row.cells
