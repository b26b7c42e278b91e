"""`tacit admin backup`, `restore` and `tombstones`: copies of a store, without erased reports."""

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError

Db = Annotated[
    str, typer.Option(help="The report store: an SQLite file, or postgresql://... Required.")
]


def backup(
    db: Db,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The file to write, an SQLite store. Required.")
    ],
) -> None:
    """Back up a store while collectors run.

    The backup contains every report that was acknowledged before the command started. It does not
    contain token counts or keys. For stores of many millions of reports on PostgreSQL, pg_dump is
    faster.

    Example: tacit admin backup --db reports.db -o /backup/reports.db
    """
    from tacit.collector.administration.backup import back_up
    from tacit.collector.storage.addresses import open_reader
    from tacit.results.records import writable

    writable(output, read=(db,))
    with closing(open_reader(db)) as reader:
        copied = back_up(reader, output)
    options.notice(f"{output}: {copied.reports:,} reports")


def restore(
    source: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="A file of `tacit admin backup`.")
    ],
    db: Annotated[
        str, typer.Option(help="The store to fill: an SQLite file, or postgresql://... Required.")
    ],
    tombstones: Annotated[
        list[Path] | None,
        typer.Option(help="Tombstone file to replay. Repeatable. [required]"),
    ] = None,
    without_tombstones: Annotated[
        bool,
        typer.Option(
            "--without-tombstones",
            help="Restore reports that were erased after the backup, because no tombstone file "
            "exists.",
        ),
    ] = False,
) -> None:
    """Restore a backup, except reports that were erased since.

    The store is created if it does not exist. It may contain reports of an interrupted restore, but
    no other tasks. Stop the collectors on it first.

    Example: tacit admin restore /backup/reports.db --db new.db --tombstones tombstones.json
    """
    from tacit.atomic_files import require_distinct
    from tacit.collector.administration.backup import restore as restored
    from tacit.collector.administration.tombstones import read
    from tacit.collector.storage.addresses import open_reader, open_store

    if not tombstones and not without_tombstones:
        raise RequestError(
            "--tombstones is required: a file of tacit admin tombstones. Reports that were erased "
            "after the backup would return. Without such a file, pass --without-tombstones."
        )
    require_distinct([Path(db)], (source, *(tombstones or ())))
    replayed = [read(path) for path in tombstones or ()]
    with closing(open_reader(str(source))) as reader, closing(open_store(db, sole=True)) as store:
        copied = restored(reader, store, replayed)
    options.notice(
        f"Restored {copied.reports:,} reports. {copied.erased:,} reports were erased and left out."
    )


def tombstones(
    db: Db,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The tombstone file to extend. Required.")
    ],
) -> None:
    """Record the erasures of a store in a file outside it, for a later restore.

    Run it more often than backups, and keep the file on another disk. It lists pseudonyms, so treat
    it like the store. Entries are removed once the erased reports would have expired.

    Example: tacit admin tombstones --db reports.db -o /backup/tombstones.json
    """
    from tacit.collector.administration.tombstones import record
    from tacit.collector.storage.addresses import open_reader
    from tacit.results.records import writable

    writable(output, read=(db,))
    with closing(open_reader(db)) as reader:
        count = record(output, reader, time.time())
    options.notice(f"{output}: {count:,} tombstones")
