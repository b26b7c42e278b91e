"""Requests of a provider to the shuffler of a task: closing, batch, signed tokens, deletion."""

from collections.abc import Collection, Iterator
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, build_opener

from tacit.atomic_files import atomic
from tacit.errors import DataError, RequestError
from tacit.wire.origin import is_private
from tacit.wire.shuffled import register
from tacit.wire.shuffled.register import Closing
from tacit.wire.shuffled.task import ShuffledTask

CHUNK, SECONDS = 1 << 20, 60.0
OTHER_BATCH = (
    "The batch differs from the one in the register, or its download was interrupted; try again."
)
GONE = 410
"""Status of a batch that was deleted."""
REFUSALS = {
    GONE: "The shuffler has no such batch: it was not released, or was deleted.",
    503: "The batch is not available yet: the shuffler deletes its bundles first. Run the same "
    "command again in a minute.",
}
"""What the statuses of a refused request for a batch mean."""


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

        Raises `RequestError` if the shuffler refuses, such as while it deletes the bundles of the
        batch, and `DataError` for another batch, such as a part of it.
        """
        with atomic(path) as partial:
            if self._written(partial, "batch") != batch:
                raise DataError(OTHER_BATCH)

    def download_tokens(self, path: Path) -> None:
        """Write the signed tokens of the batch to a file, atomically.

        The register has no digest of them: each has a signature. Raises as `download`.
        """
        with atomic(path) as partial:
            self._written(partial, "tokens")

    def delete(self) -> None:
        """Delete the batch and its tokens at the shuffler, if they are there.

        Raises `RequestError` if the shuffler refuses.
        """
        self._request("DELETE", self._path("batch"), {GONE}).close()

    def _written(self, path: Path, what: str) -> str:
        """Write the response of a path to a file. Returns its SHA-256."""
        digest = sha256()
        with self._request("GET", self._path(what)) as response, open(path, "wb") as file:
            for chunk in _chunks(response):
                digest.update(chunk)
                file.write(chunk)
        return digest.hexdigest()

    def _path(self, what: str) -> str:
        return f"/v1/tasks/{self._task.address}/{what}"

    def _request(self, method: str, path: str, allowed: Collection[int] = ()) -> Any:
        headers = {"authorization": f"Bearer {self._token}"}
        message = Request(self._task.shuffler + path, headers=headers, method=method)
        try:
            return self._open(message, timeout=SECONDS)
        except HTTPError as error:
            if error.code in allowed:
                return error
            with error:
                refusal = f"The shuffler refuses the request (status {error.code})."
                raise RequestError(REFUSALS.get(error.code, refusal)) from None
        except (URLError, HTTPException, OSError) as error:
            cause = getattr(error, "reason", error)
            raise RequestError(f"The shuffler cannot be reached: {cause}.") from None
