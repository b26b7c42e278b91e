"""Published models: files that never change, and one line that says which is newest."""

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
    """A folder that `tacit fit --publish` fills and a collector serves; any number may read it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(self, task: str, model: ItemModel | ListModel) -> str:
        """Add the model and make it the task's newest; returns its address, the SHA-256 of its
        bytes."""
        content = model.to_bytes()
        address = sha256(content).hexdigest()
        self._folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._folder / f"{address}.items", content)
        write_whole(self._folder / f"{task}.newest", address.encode())
        return address

    def newest(self, task: str) -> str | None:
        """Return the address of the task's newest model; None before the first.

        A damaged file is logged and counts as none: devices keep the model that they have.
        """
        content = self._read(f"{task}.newest") if _ADDRESS.fullmatch(task) else None
        if content is None:
            return None
        address = content.decode(errors="replace")
        if _ADDRESS.fullmatch(address):
            return address
        log.warning("The file of the newest model is damaged; publish the model again.")
        return None

    def model(self, address: str) -> bytes | None:
        """The bytes of a model; None where there is none of that address."""
        return self._read(f"{address}.items") if _ADDRESS.fullmatch(address) else None

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
