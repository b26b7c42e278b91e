"""`tacit admin token`: issue, revoke and rotate enrolment tokens in a collector's token file."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.cli.options import interruptible

app = typer.Typer(no_args_is_help=True, help="Issue, revoke and rotate enrolment tokens.")
Tokens = Annotated[
    Path, typer.Option(help="The token file of the collector (`tacit collect --tokens`). Required.")
]
Token = Annotated[str, typer.Argument(metavar="TOKEN", help="A token, or its SHA-256.")]


def issue(
    tokens: Tokens,
    count: Annotated[int, typer.Option(min=1, help="Number of tokens.")] = 1,
) -> None:
    """Issue enrolment tokens and print them, one per line.

    The file receives only their SHA-256. Running collectors accept the new tokens at once.

    Example: tacit admin token issue --count 500 --tokens tokens > new.txt
    """
    from tacit.collector.administration.tokens import issue as issued

    for token in issued(tokens, count):
        typer.echo(token)


def revoke(
    revoked: Annotated[
        list[str], typer.Argument(metavar="TOKEN", help="Tokens, or their SHA-256.")
    ],
    tokens: Tokens,
) -> None:
    """Revoke enrolment tokens. Running collectors refuse them at once.

    Reports that were sent with them stay. `tacit admin delete --token` deletes recent ones.

    Example: tacit admin token revoke 5f0c8d3e9a417b2210d4f3b6c7e8a901 --tokens tokens
    """
    from tacit.collector.administration.tokens import revoke as removed

    removed(tokens, revoked)
    options.notice(f"Revoked {len(revoked)} tokens.")


def rotate(token: Token, tokens: Tokens) -> None:
    """Replace an enrolment token by a new one, and print it.

    Example: tacit admin token rotate 5f0c8d3e9a417b2210d4f3b6c7e8a901 --tokens tokens
    """
    from tacit.collector.administration.tokens import rotate as rotated

    typer.echo(rotated(tokens, token))


for verb in (issue, revoke, rotate):
    app.command()(interruptible(verb))
