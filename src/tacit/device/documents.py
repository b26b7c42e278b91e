"""Documents of a provider, task and item model: fetched once, verified, and stored."""

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256

from tacit.device.outbox import WRONG
from tacit.device.provider import Chance, Provider
from tacit.device.transport import Transport
from tacit.errors import CertificateError, DataError, RequestError
from tacit.scale import RatingScale
from tacit.wire import replies
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel, is_list_model
from tacit.wire.tasks import loading
from tacit.wire.tasks.task import Task

LONGEST_MODEL = 1 << 28
"""Most bytes of an item model."""

_verified = lru_cache(maxsize=4)(loading.loads)


class Documents:
    """Documents of one provider. Their content is the same for all users."""

    def __init__(
        self,
        provider: Provider,
        transport: Transport,
        clock: Callable[[], float],
        jitter: Chance,
    ) -> None:
        self._provider, self._transport = provider, transport
        self._clock, self._jitter = clock, jitter

    def known(self, pinned: str | None) -> Task | None:
        """Return the pinned task, or else the current one, if it is stored."""
        address = pinned or self._provider.current
        document = address and self._provider.document(address)
        return _verified(document, address) if address and document else None

    def asked(self, pinned: str | None) -> Task | None:
        """Return the pinned task, or else the collector's first one, verified; None if unavailable.

        Raises `CertificateError` for a forged task or channel, `DataError` for a malformed one,
        `RequestError` if the collector refuses the request.
        """
        body = None if pinned else self.get("/v1/tasks", replies.LONGEST)
        address = pinned if body is None else replies.first_task(body)
        if address is None:
            return None
        known = self._provider.document(address)
        document = known or self.get(f"/v1/tasks/{address}", loading.LONGEST)
        return None if document is None else _verified(document, address)

    def fetch_model(self, task: str) -> None:
        """Fetch and store the newest model of the task at an address, unless it is stored already.

        Raises `CertificateError` if it does not match its address, `DataError` if it is malformed.
        """
        known = self._provider.model
        body = self.get(f"/v1/tasks/{task}/model", replies.LONGEST)
        address = None if body is None else replies.newest_model(body)
        if address is not None and (known is None or known[0] != address):
            document = self.get(f"/v1/models/{address}", LONGEST_MODEL)
            if document is not None:
                if sha256(document).hexdigest() != address:
                    raise CertificateError(
                        "The item model was changed in transit and is not stored."
                    )
                _model_of(document)  # every later transaction writes what is stored here
                self._provider.keep_model(address, document)

    def model(self, scale: RatingScale) -> ItemModel | ListModel:
        """Return the stored model, a rating model or a list model.

        `scale`: of the task. Raises `RequestError` if it does not exist, `DataError` if it is
        malformed or has another rating scale.
        """
        model = self.stored_model()
        if isinstance(model, ItemModel) and model.scale != scale:
            raise DataError(
                f"The item model has the scale {model.scale}, but the task has {scale}."
            )
        return model

    def stored_model(self) -> ItemModel | ListModel:
        """Return the stored model, of any scale.

        Raises `RequestError` if it does not exist, `DataError` if it is malformed.
        """
        known = self._provider.model
        if known is None:
            raise RequestError("No item model has been fetched yet; sync later.")
        return _model_of(known[1])

    def get(self, path: str, longest: int) -> bytes | None:
        """Return the bytes at a path; None if not found, or if it is too early to retry.

        Raises `RequestError` for another status.
        """
        now = self._clock()
        if self._provider.again(now) is not None:
            return None
        got = self._transport("GET", path, None, longest)
        if self._provider.postpones(got, now, self._jitter) or got is None or got.status == 404:
            return None
        if got.status != 200:
            reason = WRONG.get(got.status, "the collector cannot parse this request")
            raise RequestError(f"The download failed: {reason} (status {got.status}).")
        return got.body


def _model_of(document: bytes) -> ItemModel | ListModel:
    kind = ListModel if is_list_model(document) else ItemModel
    return kind.from_bytes(document)
