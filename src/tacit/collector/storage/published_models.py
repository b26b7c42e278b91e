"""Published models: immutable files, and per task the newest address and a record."""

import logging
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from tacit.collector.storage import publications
from tacit.collector.storage.publications import Publication
from tacit.errors import DataError, RequestError
from tacit.whole_files import write_whole
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel

log = logging.getLogger(__name__)
_ADDRESS = re.compile(r"[0-9a-f]{64}")


class PublishedModels:
    """Folder that `tacit fit --publish` writes and collectors serve; any number may read it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(
        self, task: str, model: ItemModel | ListModel, record: Publication | None = None
    ) -> str:
        """Add the model as the task's newest. Returns its address, the SHA-256 of its bytes.

        `record`: added to the task's publications, with this address. Raises `DataError` if those
        on disk are damaged.
        """
        content = model.to_bytes()
        address = sha256(content).hexdigest()
        self._folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._folder / f"{address}.items", content)
        if record is not None:
            known = (*self.publications(task), replace(record, model=address))
            write_whole(self._folder / f"{task}.history", publications.dumps(known))
        write_whole(self._folder / f"{task}.newest", address.encode())
        return address

    def tasks(self) -> list[str]:
        """Return the addresses of all tasks with a model, sorted."""
        names = sorted(path.stem for path in self._folder.glob("*.newest"))
        return [name for name in names if self.newest(name) is not None]

    def publications(self, task: str) -> tuple[Publication, ...]:
        """Return the recorded publications of a task, oldest first.

        Raises `DataError` for a damaged record, with its file.
        """
        content = self._read(f"{task}.history") if _ADDRESS.fullmatch(task) else None
        try:
            return () if content is None else publications.loads(content)
        except DataError as error:
            raise DataError(
                f"{self._folder / task}.history is damaged; delete it to start a new record. "
                f"({error})"
            ) from None

    def current(self, task: str) -> Publication | None:
        """Return the last publication of the model that devices get, None if not recorded."""
        newest = self.newest(task)
        same = [each for each in self.publications(task) if each.model == newest]
        return same[-1] if same else None

    def roll_back(self, tasks: Iterable[str], address: str | None = None) -> Publication:
        """Serve an earlier model of some tasks again, the same for all. Returns its publication.

        `address`: of a model in the record of each task. Default: the one that was published
        before the current model. `published_at` is then the time of its publication. Raises
        `RequestError`, before anything is changed, for a model that is not in the record of each
        task or whose file is missing.
        """
        chosen = {task: self._earlier(task, address) for task in tasks}
        if len({each.model for each in chosen.values()}) != 1:
            raise RequestError(
                f"One model must precede the current one in all {len(chosen)} tasks; name it with "
                "--to ADDRESS."
            )
        for task, publication in chosen.items():
            path = self._folder / f"{task}.newest"
            write_whole(path, publication.model.encode())
            os.utime(path, (publication.at, publication.at))
        return next(iter(chosen.values()))

    def _earlier(self, task: str, address: str | None) -> Publication:
        known = self.publications(task)
        newest = self.newest(task)
        last = max((k for k, each in enumerate(known) if each.model == newest), default=len(known))
        if address is None:
            candidates = [each for each in known[:last] if each.model != newest]
        else:
            candidates = [each for each in known if each.model == address]
        if not candidates:
            wanted = "an earlier model" if address is None else f"the model {address[:64]}"
            raise RequestError(
                f"The task {task} has no record of {wanted}; its {len(known)} publications are "
                "listed by `tacit models list`."
            )
        publication = candidates[-1]
        content = self.model(publication.model)
        if content is None or sha256(content).hexdigest() != publication.model:
            raise RequestError(
                f"The file of the model {publication.model} is missing or damaged, so it cannot be "
                "served again; name another one with --to ADDRESS."
            )
        return publication

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
