"""What a provider publishes, task and item model: fetched once, verified, and kept."""

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256

from tacit.device.outbox import WRONG
from tacit.device.provider import Chance, Provider
from tacit.device.transport import Transport
from tacit.errors import CertificateError, DataError, RequestError
from tacit.wire import replies
from tacit.wire import task as wire_task
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel, is_list_model
from tacit.wire.task import Task

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

    def known(self, pinned: str | None) -> Task | None:
        """The pinned task, or else the one answered last, where it has been met."""
        address = pinned or self._provider.current
        document = address and self._provider.document(address)
        return _verified(document, address) if address and document else None

    def asked(self, pinned: str | None) -> Task | None:
        """The pinned task, or else the one that the collector names first, verified; None when it
        does not say.

        Raises `CertificateError` for a task or channel that was forged, `DataError` for one that
        is malformed, `RequestError` when the collector refuses to tell.
        """
        body = None if pinned else self._get("/v1/tasks", replies.LONGEST)
        address = pinned if body is None else replies.first_task(body)
        if address is None:
            return None
        known = self._provider.document(address)
        document = known or self._get(f"/v1/tasks/{address}", wire_task.LONGEST)
        return None if document is None else _verified(document, address)

    def fetch_model(self, task: Task) -> None:
        """Keep the newest item model for that task, where there is one that is not kept yet.

        Raises `CertificateError` when it is not the one of its address.
        """
        known = self._provider.model
        body = self._get(f"/v1/tasks/{task.address}/model", replies.LONGEST)
        address = None if body is None else replies.newest_model(body)
        if address is not None and (known is None or known[0] != address):
            document = self._get(f"/v1/models/{address}", LONGEST_MODEL)
            if document is not None:
                if sha256(document).hexdigest() != address:
                    raise CertificateError(
                        "The item model was changed in transit and is not stored."
                    )
                self._provider.keep_model(address, document)

    def model(self, task: Task) -> ItemModel | ListModel:
        """The model that is kept, of ratings or of lists.

        Raises `RequestError` when there is none, `DataError` when it is malformed or of ratings on
        another scale than the task's.
        """
        known = self._provider.model
        if known is None:
            raise RequestError("No item model has been fetched yet; sync later.")
        if is_list_model(known[1]):
            return ListModel.from_bytes(known[1])
        model = ItemModel.from_bytes(known[1])
        if model.scale != task.scale:
            raise DataError(f"The item model has scale {model.scale}, the task {task.scale}.")
        return model

    def _get(self, path: str, longest: int) -> bytes | None:
        """The bytes at a path; None when there are none, or no time now."""
        now = self._clock()
        if self._provider.again(now) is not None:
            return None
        got = self._transport("GET", path, None, longest)
        if self._provider.postpones(got, now, self._chance) or got is None or got.status == 404:
            return None
        if got.status != 200:
            reason = WRONG.get(got.status, "the collector cannot read this request")
            raise RequestError(f"Nothing was fetched: {reason} (status {got.status}).")
        return got.body
