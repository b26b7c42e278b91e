"""POST /v1/tasks/{task}/erasures: exclude and delete a user's reports to a task.

A device proves ownership of its name by the key that the name was derived from. The name is in the
reports, but the key cannot be computed from it. The answer is the same whether reports exist.
"""

import re
from collections import Counter
from hashlib import sha256

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from tacit.collector.http.admission import Admission, Bodies
from tacit.collector.ingest import problems
from tacit.collector.ingest.problems import ProblemError
from tacit.collector.ingest.writer import ExcessError, Writer
from tacit.collector.storage.store import StoreError
from tacit.errors import DataError
from tacit.wire import strict

MOST_WAITING = 32
"""Most pending erasures; each is committed separately."""
LONGEST = 1024
"""Most bytes of an erasure."""
WHAT = "An erasure"

_KEY = re.compile(r"[0-9a-f]{64}")


class Erasing:
    """The route of erasures. `counts`: answers by problem name, or "accepted"."""

    def __init__(self, admission: Admission, writer: Writer) -> None:
        self._admission, self._writer = admission, writer
        self._bodies = Bodies()
        self._waiting = 0
        self.counts: Counter[str] = Counter(accepted=0)

    async def __call__(self, request: Request) -> Response:
        """Answer one request. Raises `ProblemError` for a refused one."""
        self._waiting += 1
        try:
            if self._waiting > MOST_WAITING:
                raise ProblemError(problems.BUSY)
            await self._erase(request)
        except ProblemError as error:
            self.counts[error.problem.name] += 1
            raise
        except ClientDisconnect:
            return Response(status_code=400)
        finally:
            self._waiting -= 1
        self.counts["accepted"] += 1
        return JSONResponse({})

    async def _erase(self, request: Request) -> None:
        headers = dict(request.scope["headers"])
        visit = await self._admission.let_in(request.path_params["task"], headers)
        person = erased(await self._bodies.read(request.receive))
        charge, validator = visit.charge(1, frozenset({person})), visit.validator
        try:
            if charge is not None:
                await self._writer.reserve(charge)
            epoch = validator.task.epoch(visit.now)
            await self._writer.erase(validator.held.number, person, epoch)
        except StoreError:
            raise ProblemError(problems.UNAVAILABLE) from None
        except ExcessError as error:
            if error.spent:
                self._admission.spent(visit)
            raise ProblemError(problems.LIMIT) from None


def erased(body: bytes) -> bytes:
    """Return the name to erase, 16 bytes. Raises `ProblemError` for a malformed request."""
    try:
        fields = strict.fields(strict.parse(body, WHAT, LONGEST), WHAT, ("key",))
        key = strict.typed(fields, "key", str, WHAT)
    except DataError:  # its message repeats the input
        key = ""
    if not _KEY.fullmatch(key):
        raise ProblemError(problems.NO_ERASURE)
    return sha256(bytes.fromhex(key)).digest()[:16]
