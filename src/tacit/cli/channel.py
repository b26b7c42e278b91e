"""`tacit channel`: look at a channel's table, or check one that somebody else made."""

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import plugins
from tacit.errors import CertificateError, DataError

if TYPE_CHECKING:
    from tacit.channels.table import Channel

app = typer.Typer(no_args_is_help=True, help="Show a channel's table, or verify one.")


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A channel, such as randomized-response, or auto.", autocompletion=plugins.CHANNEL
        ),
    ],
    epsilon: Annotated[
        str | None, typer.Option(help="Nats per rating value, a decimal; needed.")
    ] = None,
    scale: Annotated[
        str, typer.Option(help="The public rating scale, low:high:step, or there.")
    ] = "1:5:1",
    missing: Annotated[bool, typer.Option(help="Protect presence too.")] = False,
    symbols: Annotated[int | None, typer.Option(help="Output symbols (Laplace family).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the channel as JSON.")] = False,
) -> None:
    """The table of a channel, the epsilon it really has, and what a report tells.

    Example: tacit channel show optimal --epsilon 1 --scale 1:5:1
    """
    from tacit.channels import choose, compile_channel, settings_of
    from tacit.scale import RatingScale
    from tacit.wire.channel import dumps

    if name != "auto":
        settings_of(name)
    if epsilon is None:
        raise typer.BadParameter("a channel needs one, such as 1.", param_hint="--epsilon")
    public = RatingScale.parse(scale)
    options = {} if symbols is None else {"symbols": symbols}
    if name == "auto":
        name, channel = choose(epsilon=epsilon, scale=public, missing=missing)
    else:
        channel = compile_channel(name, epsilon=epsilon, scale=public, missing=missing, **options)
    typer.echo(dumps(channel) if json else described(name, channel))


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A channel as JSON.")],
    max_epsilon: Annotated[str | None, typer.Option(help="Refuse a larger epsilon.")] = None,
) -> None:
    """Check a channel's id and its certificate in integers; exit 1 where it does not hold.

    Example: tacit channel verify channel.json --max-epsilon 1
    """
    from tacit.channels.mechanism import check_epsilon
    from tacit.wire.channel import loads

    try:
        text = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from None
    channel = loads(text)
    if max_epsilon is not None:
        check_epsilon(max_epsilon)
        if Decimal(channel.epsilon) > Decimal(max_epsilon):
            raise CertificateError(
                f"{file} claims epsilon {channel.epsilon}, above {max_epsilon}: "
                "refuse it, or allow more."
            )
    unit = "slot" if channel.missing else "value"
    typer.echo(f"{file} holds: epsilon {channel.epsilon} per {unit}, id {channel.id}.")


def described(name: str, channel: "Channel") -> str:
    """The channel as text: one line a symbol, P(symbol | rating) in percent."""
    from tacit.channels.information import fisher_information
    from tacit.channels.table import MISSING
    from tacit.scale import shortest

    inputs = [*(MISSING,) * channel.missing, *map(shortest, channel.levels)]
    known = range(int(channel.missing), len(inputs))
    told, mean = "the rating", "its mean"
    if len(channel.levels) == 1:
        told, mean = ("a slot", "the share of slots that hold something")
    return "\n".join(
        (
            f"{name}: epsilon {channel.epsilon} per {'slot' if channel.missing else 'value'}, "
            f"{channel.exact_epsilon:.15g} read off the table",
            f"id {channel.id}",
            _line("symbol", "stands for", inputs),
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
            f"a report tells {channel.information():.4g} nats about {told} (uniform prior), "
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
