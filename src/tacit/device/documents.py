"""What a provider publishes, task and item model: fetched once, verified, and kept."""

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any, cast

from tacit.device.outbox import WRONG, Chance
from tacit.device.provider import Provider
from tacit.device.transport import MOST_ANSWER, Transport
from tacit.errors import CertificateError, DataError, RequestError
from tacit.wire import strict
from tacit.wire import task as wire_task
from tacit.wire.item_model import ItemModel
from tacit.wire.task import Task, is_address

LONGEST_MODEL = 1 << 28
"""Bytes an item model may have."""

_verified = lru_cache(maxsize=4)(wire_task.loads)


class Documents:
    """The documents of one provider. What they hold is the same for everybody who asks."""

    def __init__(
        self,
        provider: Provider,
        transport: Transport,
        clock: Callable[[], float],
        chance: Chance,
    ) -> None:
        self._provider, self._transport = provider, transport
        self._clock, self._chance = clock, chance

    def task(self, address: str | None) -> Task:
        """The task of that address, or else the one that the collector names first; the one
        answered last when it does not say. Raises `RequestError` when there is none of these."""
        met = self._met(address)
        if met is None and (last := self._provider.current) is not None:
            document = self._provider.document(last)
            met = None if document is None else _verified(document, last)
        if met is None:
            raise RequestError("The collector does not answer with a task; try again later.")
        return met

    def model(self, task: Task) -> ItemModel:
        """The newest item model for that task, or the one fetched last.

        Raises `RequestError` when there is none, `CertificateError` when it is not the one of its
        address, `DataError` when it is malformed or for another scale.
        """
        known = self._provider.model
        address = self._named(f"/v1/tasks/{task.address}/model", "model")
        if address is not None and (known is None or known[0] != address):
            document = self._get(f"/v1/models/{address}", LONGEST_MODEL)
            if document is not None:
                known = address, document
                model = _model(*known, task)
                self._provider.keep_model(*known)
                return model
        if known is None:
            raise RequestError("No item model is published for this task yet; try again later.")
        return _model(*known, task)

    def _met(self, pinned: str | None) -> Task | None:
        address = pinned or self._named("/v1/tasks", "tasks")
        if address is None:
            return None
        known = self._provider.document(address)
        document = known or self._get(f"/v1/tasks/{address}", wire_task.LONGEST)
        return None if document is None else _verified(document, address)

    def _named(self, path: str, key: str) -> str | None:
        """The address, or the first of a list, under the one key of an answer; None for none."""
        body = self._get(path, MOST_ANSWER)
        if body is None:
            return None
        what = "The collector's answer"
        found: Any = strict.fields(strict.parse(body, what, MOST_ANSWER), what, (key,))[key]
        if isinstance(found, list):
            addresses = cast("list[Any]", found)
            found = addresses[0] if addresses else None
        if found is not None and not (isinstance(found, str) and is_address(found)):
            raise DataError(f"{what} names something that is no address.")
        return found

    def _get(self, path: str, longest: int) -> bytes | None:
        """The bytes at a path; None when there are none, or no time now."""
        now = self._clock()
        if self._provider.again(now) is not None:
            return None
        got = self._transport("GET", path, None, longest)
        if self._provider.postpones(got, now, self._chance()) or got is None or got.status == 404:
            return None
        if got.status != 200:
            reason = WRONG.get(got.status, "the collector cannot read this request")
            raise RequestError(f"Nothing was fetched: {reason} (status {got.status}).")
        return got.body


def _model(address: str, document: bytes, task: Task) -> ItemModel:
    if sha256(document).hexdigest() != address:
        raise CertificateError("The item model was changed on the way; fetch it again.")
    try:
        model = ItemModel.from_bytes(document)
    except (KeyError, TypeError, IndexError, ValueError, ArithmeticError):
        raise DataError("The item model's header is malformed.") from None
    if model.scale != task.scale:
        raise DataError(f"The item model has scale {model.scale}, the task {task.scale}.")
    return model
