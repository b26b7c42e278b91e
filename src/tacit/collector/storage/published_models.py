"""Published models: immutable files, and a file per task with the newest address."""

import logging
import re
from hashlib import sha256
from pathlib import Path

from tacit.whole_files import write_whole
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel

log = logging.getLogger(__name__)
_ADDRESS = re.compile(r"[0-9a-f]{64}")


class PublishedModels:
    """Folder that `tacit fit --publish` writes and collectors serve; any number may read it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(self, task: str, model: ItemModel | ListModel) -> str:
        """Add the model as the task's newest. Returns its address, the SHA-256 of its bytes."""
        content = model.to_bytes()
        address = sha256(content).hexdigest()
        self._folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._folder / f"{address}.items", content)
        write_whole(self._folder / f"{task}.newest", address.encode())
        return address

    def newest(self, task: str) -> str | None:
        """Return the address of the task's newest model; None before the first.

        A damaged file is logged and treated as missing: devices keep the model that they have.
        """
        content = self._read(f"{task}.newest") if _ADDRESS.fullmatch(task) else None
        if content is None:
            return None
        address = content.decode(errors="replace")
        if _ADDRESS.fullmatch(address):
            return address
        log.warning(
            "The newest model's file is damaged; publish the model again.",
            extra={"event": "model-damaged"},
        )
        return None

    def published_at(self, task: str) -> float | None:
        """Return when the task's newest model was published, Unix seconds; None before the first.

        The time is that of the last publication, also where it was the same model again.
        """
        if self.newest(task) is None:
            return None
        return (self._folder / f"{task}.newest").stat().st_mtime

    def model(self, address: str) -> bytes | None:
        """Return the bytes of a model, None for an unknown address."""
        return self._read(f"{address}.items") if _ADDRESS.fullmatch(address) else None

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
