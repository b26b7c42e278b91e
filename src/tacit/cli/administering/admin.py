"""`tacit admin`: summarize and verify a store, and serve its users' requests."""

import json as json_text
import time
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.administering import token as token_commands
from tacit.cli.administering.backup import Db, backup, restore, tombstones
from tacit.cli.options import interruptible
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.collector.administration.summary import TaskSummary

app = typer.Typer(
    no_args_is_help=True,
    help="Operate a store of reports: summarize, verify, delete and export.",
)


@app.callback()
def installed() -> None:
    """Check that the packages of the collector are installed."""
    if find_spec("msgspec") is None:
        raise RequestError(
            "The collector is not installed (no module msgspec). Run pip install "
            "'tacit-recommender[collector]'."
        )


Code = Annotated[
    str, typer.Argument(help="The reference code that the user's device or page shows.")
]
DAYS = 14


def status(
    db: Db,
    publish: Annotated[
        Path | None,
        typer.Option(help="The folder of published models, for the time of the last fit."),
    ] = None,
    days: Annotated[int, typer.Option(min=0, help="Number of days to list, the latest.")] = DAYS,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON with all days instead of a table.")
    ] = False,
) -> None:
    """Summarize a store: tasks, reports per day, backlog, last fit and retention.

    The command reads the store, with or without a running collector. The backlog is the number of
    reports of the epoch of the last fit and of later ones. Overdue reports are those whose
    retention period has ended, and which a running collector deletes within ten minutes.

    Example: tacit admin status --db reports.db --publish models
    """
    from tacit.collector.administration.summary import summaries
    from tacit.collector.storage.addresses import open_reader
    from tacit.collector.storage.published_models import PublishedModels

    published = None if publish is None else PublishedModels(publish)
    with closing(open_reader(db)) as reader:
        contents, size, now = summaries(reader, published), reader.size(), time.time()
    rows = [_row(each, now) for each in contents]
    if json:
        typer.echo(json_text.dumps({"bytes": size, "tasks": rows}, indent=1))
        return
    typer.echo(f"{db}: {size / 1e6:,.1f} MB, {len(rows)} tasks")
    for row in rows:
        typer.echo(_text(row, days))


def check(db: Db) -> None:
    """Verify every stored report against its task.

    Exits with status 1 if a report is damaged, and lists some ids.

    Example: tacit admin check --db reports.db
    """
    from tacit.collector.administration.stored_rows import verify
    from tacit.collector.storage.addresses import open_reader

    with closing(open_reader(db)) as reader:
        result = verify(reader)
    typer.echo(f"{result.valid:,} reports are valid.")
    if result.faults:
        faults = ", ".join(f"{count} with {fault}" for fault, count in result.faults.items())
        raise RequestError(
            f"{result.faults.total():,} reports are damaged: {faults}. For example "
            f"{', '.join(result.examples)}. Restore a backup."
        )


def export(
    code: Code,
    db: Db,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The JSON file to write. [standard output]"),
    ] = None,
) -> None:
    """Export the stored reports of one user as JSON, to answer a data-access request.

    The values are the noisy ones that the device sent. The store contains no true ratings.

    Example: tacit admin export 8d3f0c1e-55aa41b7-9e02c6d4-7710fb23 --db reports.db -o reports.json
    """
    from tacit.atomic_files import write_atomically
    from tacit.collector.administration.deletion import pseudonym
    from tacit.collector.administration.stored_rows import export as exported
    from tacit.collector.storage.addresses import open_reader
    from tacit.results.records import writable

    writable(output, read=(db,))
    person = pseudonym(code)
    with closing(open_reader(db)) as reader:
        tasks = exported(reader, person)
    if not tasks:
        raise RequestError("The store has no report under this code. Check the code.")
    text = json_text.dumps({"format": "tacit-stored-reports-1", "tasks": tasks}, indent=1)
    if output is None:
        typer.echo(text)
    else:
        write_atomically(output, text.encode(), private=True)
        options.notice(f"{output}: {sum(len(task['reports']) for task in tasks):,} reports")


def delete(
    db: Db,
    codes: Annotated[
        list[str] | None,
        typer.Argument(metavar="CODE", help="Reference codes that users' devices show."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            help="Delete under all pseudonyms that this token, or the token with this SHA-256, was "
            "used with in the current epoch. Earlier uses are not recorded."
        ),
    ] = None,
    token_keys: Annotated[
        Path | None,
        typer.Option(help="Key file of the token counts. [next to the SQLite file]"),
    ] = None,
) -> None:
    """Delete all reports of some users, and refuse them if they arrive again.

    The store keeps a tombstone until no report from before the deletion can arrive any more. Every
    reader excludes reports under it, also those of an upload that is repeated. A collector may be
    running. Models that were already fitted do not change: fit and publish again.

    Example: tacit admin delete 8d3f0c1e-55aa41b7-9e02c6d4-7710fb23 --db reports.db
    """
    from tacit.collector.administration.deletion import delete_people, people_of_token, pseudonym
    from tacit.collector.administration.tokens import digest_of
    from tacit.collector.storage.addresses import open_reader, open_store

    people = [pseudonym(code) for code in codes or ()]
    with closing(open_reader(db)) as reader:
        if token is not None:
            people += people_of_token(db, token_keys, bytes.fromhex(digest_of(token)), reader)
    if not people and token is None:
        raise typer.BadParameter("a reference code or --token is required")
    with closing(open_store(db)) as store:
        count = delete_people(store, people) if people else 0
    options.notice(f"Deleted {count:,} reports under {len(people)} pseudonyms.")
    if not count:
        options.notice("Check the code: nothing was stored under it.")


def prune(db: Db) -> None:
    """Delete expired reports now, as a running collector does every ten minutes.

    Nothing is deleted if the clock is far from the last trusted time of the store.

    Example: tacit admin prune --db reports.db
    """
    from tacit.collector.administration.deletion import prune as pruned
    from tacit.collector.storage.addresses import open_reader, open_store

    open_reader(db).close()  # pruning does not create a store
    with closing(open_store(db)) as store:
        for task, count in pruned(store).items():
            typer.echo(f"{task}: {count:,} reports deleted")


for verb in (status, check, export, delete, prune, backup, restore, tombstones):
    app.command()(interruptible(verb))
app.add_typer(token_commands.app, name="token")


def _row(summary: "TaskSummary", now: float) -> dict[str, Any]:
    """Return a summary as JSON values."""
    task = summary.task
    return {
        "task": task.address,
        "name": task.name,
        "plan": task.plan,
        "continues": [each.address for each in summary.tasks[1:]],
        "reports": summary.reports,
        "days": summary.days,
        "backlog": summary.backlog,
        "fitted": None if summary.fitted is None else _date(summary.fitted),
        "retention_days": task.retention_days,
        "overdue": summary.overdue(now),
        "tombstones": summary.tombstones,
    }


def _text(row: dict[str, Any], days: int) -> str:
    latest = list(row["days"].items())[-days:] if days else []
    lines = [
        f"\n{row['name']}, plan {row['plan']}, task {row['task']}",
        f"  reports     {row['reports']:,}",
        f"  backlog     {row['backlog']:,}",
        f"  last fit    {row['fitted'] or 'unknown'}",
        f"  retention   {row['retention_days']} days, {row['overdue']:,} reports overdue",
        f"  tombstones  {row['tombstones']:,}",
        *(f"  {day}  {count:,}" for day, count in latest),
    ]
    return "\n".join(lines)


def _date(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
