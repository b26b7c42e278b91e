"""`tacit fit --publish`: measure a fitted model, and publish it if it is good enough."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.learners.learner import Learner
    from tacit.models import Fitted, FittedLists
    from tacit.publishing.held_out import Gain
    from tacit.reports import Reports


@dataclass(frozen=True, kw_only=True)
class PublishRequest:
    """Options of `tacit fit` for publishing, as typed. `db`, `task`: of the store."""

    folder: Path
    db: str
    task: str | None
    least: int
    force: bool
    dry_run: bool
    hide: Path | None


def publish_request(
    folder: Path | None,
    db: str | None,
    task: str | None,
    least: int,
    *,
    force: bool,
    dry_run: bool,
    hide: Path | None,
) -> PublishRequest | None:
    """Return the request, None without --publish. Raises `RequestError` for other options alone."""
    if folder is not None and db is not None:
        return PublishRequest(
            folder=folder, db=db, task=task, least=least, force=force, dry_run=dry_run, hide=hide
        )
    if folder is not None:
        raise RequestError("--publish requires --db.")
    alone = {"--force": force, "--dry-run": dry_run, "--hide": hide is not None}
    for option, is_set in alone.items():
        if is_set:
            raise RequestError(f"{option} requires --publish.")
    return None


def measured_gain(
    request: PublishRequest, model: "Learner", reports: "Reports", fit: "Callable[[Reports], Any]"
) -> "Gain | None":
    """Return the gain of a model over popularity on held-out reports, None if not measurable.

    `fit`: fits the model with the settings of the command line.
    """
    from tacit.learners.learner import learner
    from tacit.publishing.held_out import held_out_gain

    if len(reports) < request.least and not request.force:
        return None  # refused in any case
    baseline = learner("item-mean" if model.predicts else "popularity")
    return held_out_gain(reports, fit, baseline.fit)


def publish(
    request: PublishRequest, fitted: "Fitted | FittedLists", reports: int, gain: "Gain | None"
) -> None:
    """Publish a model, and print its gain and its address.

    `reports`: number of rows that it was fitted to. Raises `RequestError` for a model that is not
    good enough, unless the request has `force`.
    """
    from tacit.collector.storage.publications import Publication
    from tacit.collector.storage.published_models import PublishedModels
    from tacit.models import Fitted, item_model, list_model
    from tacit.publishing.gate import described, require_publishable
    from tacit.readers import catalogue

    tasks, folder = _tasks(request), PublishedModels(request.folder)
    # Tasks that were published together share a record; a task that extends them has none yet.
    earlier = max(map(folder.publications, tasks), key=len)
    if not request.force:
        current = [each for task in tasks if (each := folder.current(task)) is not None]
        last = max(current, key=lambda each: each.at, default=None)
        require_publishable(fitted.model, reports, request.least, gain, last)
    options.notice(described(gain))
    if request.dry_run:
        options.notice("The model was not published: --dry-run.")
        return
    if request.hide is not None:
        folder.hide(catalogue(request.hide)["item"].to_list())
    learnt = item_model(fitted) if isinstance(fitted, Fitted) else list_model(fitted)
    record = Publication(
        model="",
        at=time.time(),
        learner=fitted.model,
        reports=reports,
        unit=gain and gain.unit,
        gain=gain and gain.value,
        error=gain and gain.error,
    )
    (address,) = {folder.publish(task, learnt, record, earlier) for task in tasks}
    options.notice(f"Published in {request.folder} as {address}.")


def _tasks(request: PublishRequest) -> list[str]:
    """Return the addresses of the tasks whose devices download the model."""
    from tacit.collector.storage import stored_reports
    from tacit.collector.storage.addresses import open_reader

    with closing(open_reader(request.db)) as reader:
        return [task.address for task in stored_reports.together(reader, request.task)]
