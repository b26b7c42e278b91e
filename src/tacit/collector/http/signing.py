"""Blind signatures of one-time tokens: one per customer and shuffled task.

A customer is whom an enrolment token names. The same request has the same answer, and another one
of the same customer is refused. Two hashes are stored per customer: of the enrolment token, with
the task's address, and of the blinded message. Neither is related to the token that a bundle
contains.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from subprocess import SubprocessError
from typing import NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from tacit.collector.http.admission import Bodies, check_media
from tacit.collector.ingest import problems
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.problems import Problem, ProblemError
from tacit.collector.ingest.signing_key import SigningKey
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import ReportOutcome, StoredReport, StoreError
from tacit.errors import RequestError
from tacit.wire.shuffled.task import ShuffledTask, is_shuffled_task, loads

log = logging.getLogger(__name__)

PATH = "/v1/shuffled/{task}/signature"
STORE = "signed.db"
"""File in the folder of tasks and keys."""
MEDIA_TYPE = "application/octet-stream"
MOST_AT_ONCE = 4
"""Processes of OpenSSL at a time."""
MEDIA = Problem("media-type", 415, f"Send {MEDIA_TYPE} without a content-encoding.")
BLINDED = Problem("blinded", 422, "A blinded token must be a number below the key's modulus.")
CONFLICT = Problem(
    "conflict", 409, "Another token of this customer was signed; it is the only one."
)
CLOSED = Problem("closed", 410, "The task is closed, so no token is signed for it.")


class SignedTask(NamedTuple):
    """A shuffled task, and the key that signs its tokens."""

    task: ShuffledTask
    key: SigningKey


def signed_tasks(folder: Path) -> dict[str, SignedTask]:
    """Return the tasks with a signer in a folder, by address. The key of A.json is A.pem.

    Raises `RequestError` for a folder without one, and for a missing key or that of another task.
    """
    tasks: dict[str, SignedTask] = {}
    for path in sorted(folder.glob("*.json")):
        document, pem = path.read_bytes(), path.with_suffix(".pem")
        if not is_shuffled_task(document) or (task := loads(document)).signer is None:
            continue
        if not pem.exists() or (key := SigningKey(pem)).modulus != task.signer:
            raise RequestError(f"{pem} must be the signing key of the task in {path}.")
        tasks[task.address] = SignedTask(task, key)
    if not tasks:
        raise RequestError(
            f"{folder} has no shuffled task with a signer; write one with tacit shuffled task "
            "--signed."
        )
    return tasks


class Signing:
    """The route of signatures, over a folder of `signed_tasks`, which no other process may use.

    `enrolment`: of the customers. `clock`: Unix seconds. Raises as `signed_tasks`.
    """

    def __init__(self, folder: Path, enrolment: Enrolment, clock: Callable[[], float]) -> None:
        self._tasks = signed_tasks(folder)
        self._store = SqliteStore(str(folder / STORE), sole=True)
        self._enrolment, self._clock = enrolment, clock
        self._bodies, self._at_once = Bodies(), asyncio.Semaphore(MOST_AT_ONCE)
        self._numbers: Mapping[str, int] = {
            address: self._store.hold(each.task.document).number
            for address, each in self._tasks.items()
        }
        self._writer: Writer | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Accept requests during the block."""
        self._writer = Writer(self._store)
        try:
            yield
        finally:
            await self._writer.close()

    async def sign(self, request: Request) -> Response:
        """POST /v1/shuffled/{task}/signature; raises `ProblemError` for a refused request."""
        signed = self._tasks.get(request.path_params["task"])
        if signed is None:
            raise ProblemError(problems.NO_SUCH_TASK)
        headers = dict(request.scope["headers"])
        identity = await self._enrolment.admit(headers)
        check_media(headers, MEDIA_TYPE.encode(), MEDIA)
        try:
            blinded = await self._bodies.read(request.receive)
        except ClientDisconnect:
            return Response(status_code=400)
        if self._clock() >= signed.task.closes:
            raise ProblemError(CLOSED)
        if not signed.key.accepts(blinded):
            raise ProblemError(BLINDED)
        await self._record(signed.task.address, identity, blinded)
        signature = await self._signature(signed.key, blinded)
        return Response(signature, media_type=MEDIA_TYPE, headers={"cache-control": "no-store"})

    async def _signature(self, key: SigningKey, blinded: bytes) -> bytes:
        """Return a signature. Raises `ProblemError` if OpenSSL fails; the device tries again."""
        async with self._at_once:
            try:
                return await asyncio.to_thread(key.sign, blinded)
            except (RequestError, OSError, SubprocessError) as error:
                cause = type(error).__name__
                log.error(
                    "A token could not be signed: %s.",
                    cause,
                    extra={"event": "signing-failed", "cause": cause},
                )
                raise ProblemError(problems.FAILED) from None

    async def _record(self, task: str, identity: bytes, blinded: bytes) -> None:
        """Store that a customer has requested this signature, durably, before it is computed.

        Raises `ProblemError` if the customer has requested another one.
        """
        assert self._writer is not None, "the collector has not started"
        name = sha256(b"tacit-signature-1\n" + task.encode() + identity).digest()[:16]
        content = sha256(blinded).digest()
        row = StoredReport(name, self._numbers[task], 0, 0, name, content)
        try:
            (outcome,) = await self._writer.put([row])
        except StoreError:
            raise ProblemError(problems.UNAVAILABLE) from None
        if outcome is ReportOutcome.CONFLICT:
            raise ProblemError(CONFLICT)


def route(signing: Signing | None) -> Route:
    """Return the route of signatures. Without `signing`, no task has one."""
    return Route(PATH, _no_task if signing is None else signing.sign, methods=["POST"])


async def _no_task(request: Request) -> Response:
    raise ProblemError(problems.NO_SUCH_TASK)
