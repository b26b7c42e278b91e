"""`tacit channel`: show the table of a channel, or verify a channel file."""

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options, plugins
from tacit.errors import CertificateError, DataError

if TYPE_CHECKING:
    from tacit.channels.table import Channel

app = typer.Typer(
    no_args_is_help=True, help="Show the table of a channel, or verify a channel file."
)


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="The channel: auto, or a name such as randomized-response.",
            autocompletion=plugins.CHANNEL,
        ),
    ],
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="Epsilon in nats per value, or per slot with --missing; a decimal. Required."
        ),
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="The public rating scale, low:high:step. [1:5:1]")
    ] = None,
    implicit: options.Implicit = False,
    missing: Annotated[bool, typer.Option(help="Also protect whether an item was rated.")] = False,
    symbols: Annotated[
        int | None, typer.Option(help="Number of output symbols (Laplace family only).")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the channel as JSON instead of a table.")
    ] = False,
) -> None:
    """Show a channel's table, its actual epsilon, and the information in a report.

    Example: tacit channel show optimal --epsilon 1 --scale 1:5:1
    """
    from tacit.channels import choose_channel, compile_channel, settings_of
    from tacit.scale import RatingScale
    from tacit.wire.channel import dumps

    if name != "auto":
        settings_of(name)
    if epsilon is None:
        raise typer.BadParameter("a value is required, such as 1.", param_hint="--epsilon")
    public = RatingScale.parse(options.scale_of(scale, implicit) or "1:5:1")
    settings = {} if symbols is None else {"symbols": symbols}
    if name == "auto":
        options.refuse({"--symbols": symbols}, "on auto, which selects a channel and its settings")
        name, channel = choose_channel(epsilon=epsilon, scale=public, missing=missing)
    else:
        channel = compile_channel(name, epsilon=epsilon, scale=public, missing=missing, **settings)
    typer.echo(dumps(channel) if json else described(name, channel))


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="The channel file (JSON).")],
    max_epsilon: Annotated[
        str | None, typer.Option(help="Reject a channel whose epsilon (in nats) is larger.")
    ] = None,
) -> None:
    """Verify the id and the certificate of a channel in integer arithmetic.

    The command exits with status 1 if the id or the certificate is invalid.

    Example: tacit channel verify channel.json --max-epsilon 1
    """
    from tacit.channels.mechanism import check_epsilon
    from tacit.wire.channel import loads

    try:
        text = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from None
    try:
        channel = loads(text)
    except (CertificateError, DataError) as error:
        raise type(error)(f"{file}: {error}") from None
    if max_epsilon is not None:
        check_epsilon(max_epsilon)
        if Decimal(channel.epsilon) > Decimal(max_epsilon):
            raise CertificateError(
                f"{file} claims epsilon {channel.epsilon}, above --max-epsilon {max_epsilon}; "
                "reject the channel or allow a larger epsilon."
            )
    unit = "slot" if channel.missing else "value"
    typer.echo(f"{file} is verified: epsilon {channel.epsilon} per {unit}, id {channel.id}.")


def described(name: str, channel: "Channel") -> str:
    """Format a channel as text: one line per symbol, P(symbol | rating) in percent."""
    from tacit.channels.information import fisher_information
    from tacit.channels.table import MISSING
    from tacit.scale import shortest

    inputs = [*(MISSING,) * channel.missing, *map(shortest, channel.levels)]
    known = range(int(channel.missing), len(inputs))
    target, mean = "the rating", "its mean"
    if len(channel.levels) == 1:
        target, mean = ("a slot", "the share of rated slots")
    return "\n".join(
        (
            f"{name}: epsilon {channel.epsilon} per {'slot' if channel.missing else 'value'}, "
            f"{channel.exact_epsilon:.15g} computed from the table",
            f"id {channel.id}",
            _line("symbol", "output", inputs),
            *(
                _line(str(y), MISSING if output is None else shortest(output), shares)
                for y, (output, shares) in enumerate(
                    zip(channel.outputs, _percent(channel), strict=True)
                )
            ),
            _line(
                "",
                "bias",
                [""] * channel.missing + [f"{float(channel.bias(x)):.3f}" for x in known],
            ),
            _line("", "sd", [""] * channel.missing + [f"{_sd(channel, x):.3f}" for x in known]),
            f"a report carries {channel.information():.4g} nats about {target} (uniform prior), "
            f"Fisher information {fisher_information(channel):.4g} about {mean}",
        )
    )


def _percent(channel: "Channel") -> list[list[str]]:
    columns = zip(*channel.likelihood, strict=True)
    return [[f"{100 * share:.3f}" for share in column] for column in columns]


def _sd(channel: "Channel", row: int) -> float:
    return float(channel.variance(row)) ** 0.5


def _line(symbol: str, output: str, cells: list[str]) -> str:
    return f"{symbol:>6} {output:>12} " + " ".join(f"{cell:>8}" for cell in cells)
