"""`tacit models`: list the published models, serve an earlier one again, and hide items."""

import json as json_text
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.options import interruptible
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.collector.storage.published_models import PublishedModels

app = typer.Typer(
    no_args_is_help=True, help="List published models, serve an earlier one again, and hide items."
)
Folder = Annotated[
    Path, typer.Option("--publish", help="The folder of published models. Required.")
]
HOUR = 3600


def _published(folder: Path) -> "PublishedModels":
    """Return the published models of a folder. Raises `RequestError` if it does not exist."""
    from tacit.collector.storage.published_models import PublishedModels

    if not folder.is_dir():
        raise RequestError(f"--publish must be an existing folder, got {folder}.")
    return PublishedModels(folder)


def list_(
    publish: Folder,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the models that were published for each task, the latest first.

    Each has its age, the learner, the number of reports, and its gain over popularity on held-out
    reports with the standard error. A star marks the model that devices get. The number of hidden
    items is printed first, if any are hidden.

    Example: tacit models list --publish models
    """
    folder, now = _published(publish), time.time()
    rows = {task: _rows(folder, task, now) for task in folder.tasks()}
    if json:
        typer.echo(json_text.dumps(rows, indent=1))
        return
    if hidden := folder.hidden:
        typer.echo(f"{len(hidden):,} items are hidden")
    if not rows:
        options.notice(f"{publish} contains no published model.")
    for task, models in rows.items():
        typer.echo(f"task {task}")
        typer.echo("\n".join(map(_text, models)) or "  no record of its publications")


def rollback(
    publish: Folder,
    task: Annotated[
        str | None, typer.Option(help="Address of the task. [the only one with a model]")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help="Address of the model. [the one published before the current one]"),
    ] = None,
) -> None:
    """Serve an earlier model again. Devices fetch it at their next sync.

    Tasks that serve the same model go back together. A model that was fitted before a deletion
    still depends on the deleted reports: after `tacit admin delete`, remove its file instead.

    Example: tacit models rollback --publish models
    """
    folder = _published(publish)
    publication = folder.roll_back(_tasks(folder, task), to)
    date = f"{datetime.fromtimestamp(publication.at, UTC):%Y-%m-%d %H:%M} UTC"
    options.notice(f"Devices get {publication.model} ({publication.learner}, {date}) again.")


def hide(
    items: Annotated[
        Path, typer.Argument(metavar="FILE", help="A table with a column item: all hidden items.")
    ],
    publish: Folder,
) -> None:
    """Hide items: devices stop recommending them at their next sync.

    The list replaces the previous one, and is the same for all tasks and users. It applies to the
    models that are published now and to all later ones. Ratings of hidden items remain
    inputs of recommendations. A table without rows hides nothing.

    Example: tacit models hide hidden.csv --publish models
    """
    from tacit.readers import catalogue

    hidden, folder = catalogue(items)["item"].to_list(), _published(publish)
    folder.hide(hidden)
    options.notice(f"{len(hidden):,} items are hidden in {len(folder.tasks())} published models.")


app.command("list")(interruptible(list_))
app.command()(interruptible(hide))
app.command()(interruptible(rollback))


def _tasks(folder: "PublishedModels", task: str | None) -> list[str]:
    """Return the tasks that serve the same model as `task`, or as all tasks."""
    served = {each: folder.newest(each) for each in folder.tasks()}
    if not served or (task is not None and task not in served):
        raise RequestError(f"The folder has no model of the task {task or 'yet'}; publish one.")
    if task is None and len(set(served.values())) > 1:
        raise RequestError(
            f"Several tasks have a model; choose one with --task: {', '.join(served)}."
        )
    model = served[task] if task is not None else next(iter(served.values()))
    return [each for each, newest in served.items() if newest == model]


def _rows(folder: "PublishedModels", task: str, now: float) -> list[dict[str, Any]]:
    """Return the publications of a task as JSON values, the latest first."""
    current = folder.current(task)
    return [
        asdict(each) | {"hours": (now - each.at) / HOUR, "current": each == current}
        for each in reversed(folder.publications(task))
    ]


def _text(row: dict[str, Any]) -> str:
    age = f"{row['hours']:,.0f} h" if row["hours"] < 48 else f"{row['hours'] / 24:,.0f} days"
    parts = [f"{'*' if row['current'] else ' '} {row['model'][:12]}", age, row["learner"]]
    if row["reports"] is not None:
        parts.append(f"{row['reports']:,} reports")
    if row["gain"] is not None:
        parts.append(f"gain {row['gain']:.4f} (error {row['error']:.4f}, {row['unit']})")
    return "  " + ", ".join(parts)
