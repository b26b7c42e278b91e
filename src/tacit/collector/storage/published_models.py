"""Published models: immutable files, and per task the newest address and a record."""

import fcntl
import logging
import os
import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from tacit.atomic_files import write_atomically
from tacit.collector.storage import publications
from tacit.collector.storage.publications import Publication
from tacit.errors import DataError, RequestError
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel, is_list_model

log = logging.getLogger(__name__)
HIDDEN = "hidden.json"
"""File of the hidden items."""
_ADDRESS = re.compile(r"[0-9a-f]{64}")


class PublishedModels:
    """Folder that `tacit fit --publish` writes and collectors serve; any number may read it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(
        self,
        task: str,
        model: ItemModel | ListModel,
        record: Publication | None = None,
        earlier: Sequence[Publication] = (),
    ) -> str:
        """Add the model, with the folder's hidden items, as the task's newest.

        Returns its address, the SHA-256 of its bytes. `record`: added to the task's publications,
        with this address. `earlier`: publications of a task without a record, such as those of the
        task that it extends. Raises `DataError` if those on disk are damaged.
        """
        with self._locked():
            content = model.hiding(self.hidden).to_bytes()
            address = sha256(content).hexdigest()
            write_atomically(self._folder / f"{address}.items", content)
            if record is not None:
                known = self.publications(task) or tuple(earlier)
                self._record(task, (*known, replace(record, model=address)))
            self._point(task, address, None if record is None else record.at)
        return address

    @property
    def hidden(self) -> tuple[int | str, ...]:
        """Raw ids of the items that no published model recommends, the same for all tasks.

        Raises `DataError` for a damaged list.
        """
        content = self._read(HIDDEN)
        try:
            return () if content is None else publications.load_hidden(content)
        except DataError as error:
            raise DataError(
                f"{self._folder / HIDDEN} is damaged; write it again with `tacit models hide`. "
                f"({error})"
            ) from None

    def hide(self, items: Iterable[int | str]) -> None:
        """Replace the hidden items, and publish every task's newest model with them.

        There is one list for all devices: a list for some would identify them. Times of publication
        do not change. Raises `DataError`, before anything is changed, for a damaged model.
        """
        with self._locked():
            served = {task: self._served(task) for task in self.tasks()}
            write_atomically(self._folder / HIDDEN, publications.dump_hidden(tuple(items)))
            for task, publication in served.items():
                self._serve(task, publication)

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
        before the current model. Items that are hidden now stay hidden, so its address may change.
        `published_at` is then the time of its publication. Raises, before anything is changed,
        `RequestError` for a model that is not in the record of each task, and `DataError` for one
        whose file is missing or damaged.
        """
        with self._locked():
            chosen = {task: self._earlier(task, address) for task in tasks}
            if len({each.model for each in chosen.values()}) != 1:
                raise RequestError(
                    f"One model must precede the current one in all {len(chosen)} tasks; name it "
                    "with --to ADDRESS."
                )
            served = [self._serve(task, publication) for task, publication in chosen.items()]
        return served[0]

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Lock the folder, which is created, against others that publish, hide or roll back.

        A model that is published while items are hidden would otherwise recommend them.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _served(self, task: str) -> Publication:
        """Return the publication of the task's newest model, without figures if not recorded."""
        known, address = self.current(task), self.newest(task)
        assert address is not None, "the task has a model"
        self._parsed(address)
        at = self.published_at(task) or 0.0
        return known or Publication(model=address, at=at, learner="unknown")

    def _serve(self, task: str, publication: Publication) -> Publication:
        """Make a stored model the task's newest, with the folder's hidden items.

        Its entry in the record gets the new address.
        """
        content = self._parsed(publication.model).hiding(self.hidden).to_bytes()
        served = replace(publication, model=sha256(content).hexdigest())
        write_atomically(self._folder / f"{served.model}.items", content)
        if known := self.publications(task):
            self._record(task, [served if each == publication else each for each in known])
        self._point(task, served.model, served.at)
        return served

    def _point(self, task: str, address: str, at: float | None) -> None:
        """Make a model the task's newest, published `at` Unix seconds; None: now."""
        path = self._folder / f"{task}.newest"
        write_atomically(path, address.encode())
        if at is not None:
            os.utime(path, (at, at))

    def _record(self, task: str, known: Sequence[Publication]) -> None:
        write_atomically(self._folder / f"{task}.history", publications.dumps(known))

    def _parsed(self, address: str) -> ItemModel | ListModel:
        """Return a stored model. Raises `DataError` if it is missing or damaged."""
        content = self.model(address)
        if content is None or sha256(content).hexdigest() != address:
            raise DataError(
                f"The file of the model {address} is missing or damaged; publish a model again, or "
                "name another one with --to ADDRESS."
            )
        kind = ListModel if is_list_model(content) else ItemModel
        return kind.from_bytes(content)

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
        self._parsed(candidates[-1].model)
        return candidates[-1]

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
