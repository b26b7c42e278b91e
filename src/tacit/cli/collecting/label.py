"""`tacit label`: the privacy label of a task, a model or a result, as HTML and JSON."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.labels.label import Label


def label(
    about: Annotated[
        Path,
        typer.Argument(help="A task, a model, or the JSON written by `tacit compare`."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The page to write (HTML). A JSON file with the same content is "
            "written next to it.",
        ),
    ] = Path("label.html"),
    delta: Annotated[
        str | None,
        typer.Option(
            help="Delta of the epsilon per user of a task, between 0 and 1. A shuffled task has "
            "its own. [1e-6]"
        ),
    ] = None,
) -> None:
    """Write the privacy label of a task, a model or a comparison.

    The label is computed from the input. It states who is trusted, what leaves the device, the
    epsilon per value or slot and per user, what is public, and how long reports are retained. For a
    task, attacks are simulated on synthetic users, because results on protected users would
    themselves be a release. For a shuffled task, the label states both epsilons per user, and who
    must follow the protocol.

    Examples:

        tacit label task.json -o label.html

        tacit label served/models/3fe0.items
    """
    from tacit.results.records import writable

    written = (".html", ".json")
    others = tuple(each for each in written if each != output.suffix)
    writable(output, read=(about,), beside=others)
    page = output.with_suffix(".html")

    from tacit.atomic_files import write_atomically
    from tacit.labels.document import dumps
    from tacit.labels.page import html

    document = _label(about, delta)
    write_atomically(page, html(document).encode())
    write_atomically(page.with_suffix(".json"), dumps(document).encode())
    stated = " Its guarantee is as stated by the provider." if document.kind == "model" else ""
    sentence = f"{page} and {page.with_suffix('.json')}: the label of a {document.kind}."
    options.notice(sentence + stated)


def _label(about: Path, delta: str | None) -> "Label":
    from tacit.labels.files import of_model, of_result
    from tacit.labels.label import of_task
    from tacit.labels.on_request import DELTA
    from tacit.labels.shuffled_task import of_shuffled_task
    from tacit.labels.simulated_attacks import found_by_attackers
    from tacit.wire.shuffled import task as shuffled
    from tacit.wire.tasks.loading import loads

    with about.open("rb") as file:
        start = file.read(1)
    if start == b"{":
        document = about.read_bytes()
        if shuffled.is_shuffled_task(document):
            if delta is not None:
                raise RequestError("A shuffled task has its own delta; leave out --delta.")
            return of_shuffled_task(shuffled.loads(document))
        task = loads(document)
        chosen = DELTA if delta is None else delta
        return of_task(task, delta=chosen, found=found_by_attackers(task))
    if start == b"[":
        return of_result(about)
    if not start:
        raise RequestError(f"{about} is empty; expected a task, a model or a result file.")
    return of_model(about)
