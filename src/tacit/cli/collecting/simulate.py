"""`tacit simulate`: simulated devices of the users in a ratings file, over HTTP."""

from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.options import Columns, Data, Format, Rounding, Scale
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.planning.fleet import FleetOutcome


def simulate(
    data: Data,
    url: Annotated[str, typer.Option(help="The collector's URL, as in http://127.0.0.1:8000.")],
    devices: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of devices. Users are assigned to devices in rotation. [one per user]",
        ),
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(help="Share of the ratings to hold out. [none; 0.1 with --score]"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split.")] = 0,
    score: Annotated[
        bool,
        typer.Option(
            "--score",
            help="Send no reports. Evaluate predictions or top-20 lists on held-out "
            "data, on the device.",
        ),
    ] = False,
    most_epsilon: Annotated[
        str, typer.Option(help="Maximum epsilon per value or slot, in nats.")
    ] = "8",
    lifetime: Annotated[
        str,
        typer.Option(help="Lifetime limit on the total epsilon of a device's reports, in nats."),
    ] = "1000000",
    token: Annotated[
        str | None, typer.Option(help="The enrolment token.", envvar="TACIT_TOKEN")
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Allow http to another machine. Anyone on the network can read and change the "
            "traffic.",
        ),
    ] = False,
    threads: Annotated[int, typer.Option(help="Number of devices to run concurrently.", min=1)] = 8,
    format: Format = None,
    scale: Scale = None,
    implicit: options.Implicit = False,
    columns: Columns = None,
    rounding: Rounding = None,
) -> None:
    """Simulate users of a ratings file as devices over HTTP.

    Each user has a separate device with its own ledger. Item ids must match those of the
    collector's task. This machine sends exactly what the devices would send: reports with noise
    from the operating system. Every run creates new devices, so a second run reports for all users
    again, under other pseudonyms. Exits with status 1 if devices had reports and none was stored.

    Examples:

        tacit simulate ml-100k.zip --url http://127.0.0.1:8000 --test-share 0.1

        tacit simulate ml-100k.zip --url http://127.0.0.1:8000 --score
    """
    from tacit.metrics.split import SplitProtocol
    from tacit.planning.fleet import Fleet
    from tacit.progress import bar

    fleet = Fleet(
        url=url, most_epsilon=most_epsilon, lifetime=lifetime, token=token, insecure=insecure,
        threads=threads,
    )  # fmt: skip
    ratings = options.load(data, format, options.scale_of(scale, implicit), columns, rounding)
    count = devices if devices is not None else ratings.n_users
    known, held_out = ratings, None
    if score or test_share is not None:
        mask = SplitProtocol(share=0.1 if test_share is None else test_share).test(
            ratings, seed, None
        )
        known, held_out = ratings.where(~mask), ratings.where(mask)
    with bar("simulating") as progress:
        if score and held_out is not None:
            tally = fleet.score(known, held_out, count, progress)
        else:
            tally = fleet.report(known, count, progress)
    _print(tally, "interactions" if ratings.scale.has_one_level else "ratings")
    if tally.interrupted:
        options.notice(f"Interrupted after {tally.counts['devices']:,} of {count:,} devices.")
        raise typer.Exit(options.INTERRUPTED)
    unsent = tally.counts["waiting"] + tally.counts["given up"]
    if unsent and not tally.counts["stored"]:
        raise RequestError(f"No report was stored: {unsent:,} are pending or were rejected.")


def _print(tally: "FleetOutcome", entries: str) -> None:
    counts = tally.counts
    typer.echo(f"{counts['devices']:,} devices with {counts['ratings']:,} {entries} on the device")
    if tally.errors:
        typer.echo(
            f"RMSE {tally.rmse:.4f} on {len(tally.errors):,} held-out ratings, on the device"
        )
    elif tally.gains:
        typer.echo(f"NDCG@20 {tally.ndcg:.4f} over {len(tally.gains):,} users, on the device")
    else:
        typer.echo(f"{counts['stored']:,} reports stored, {counts['waiting']:,} pending")
    for note, devices in tally.notes.items():
        options.notice(f"{devices:,} devices: {note}")
    for name, meaning in (
        ("not asked", f"{entries} on items outside the task's catalogue"),
        ("given up", "reports rejected by the collector"),
        ("refused", "devices whose lifetime limit on epsilon was too low"),
        ("unreached", "devices that received no task"),
    ):
        if counts[name]:
            typer.echo(f"{counts[name]:,} {meaning}")
