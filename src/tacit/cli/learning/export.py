"""`tacit export`: the published side of a model, in a format of other tools."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.exports.published_arrays import Published

ENDINGS = {"onnx": ".onnx", "safetensors": ".safetensors", "parquet": ".parquet", "card": ".md"}


def export(
    model: Annotated[Path, typer.Argument(help="The model file of `tacit fit` or of a collector.")],
    to: Annotated[str, typer.Option(help="onnx, safetensors, parquet or card. Required.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write. [MODEL with the format's ending]"),
    ] = None,
) -> None:
    """Export a model to ONNX, safetensors, Parquet or a model card.

    Only what devices download is exported, never the rows of users. onnx: a list model as one
    graph, from a user's items to the top n. safetensors: all arrays. parquet: a vector per item,
    for a vector index. card: a Markdown description with the guarantee, as model hubs show it.

    Examples:

        tacit export lists --to onnx

        tacit export model --to parquet -o items.parquet
    """
    from tacit.atomic_files import write_atomically
    from tacit.results.records import writable

    if to not in ENDINGS:
        raise RequestError(f"--to must be one of {', '.join(ENDINGS)}, got {to}.")
    if model.is_dir():
        raise RequestError(f"{model} is a folder; name the file of a model.")
    target = output or model.with_name(model.name + ENDINGS[to])
    writable(target, read=(model,))
    write_atomically(target, _content(model, to))
    options.notice(f"Exported {model} to {target}.")


def _content(path: Path, to: str) -> bytes:
    if to == "card":
        from tacit.exports.model_card import model_card

        return model_card(path).encode()

    from tacit.exports.onnx_lists import onnx_of
    from tacit.exports.published_arrays import read, safetensors_of

    writers: dict[str, Callable[[Published], bytes]] = {
        "onnx": onnx_of,
        "safetensors": safetensors_of,
        "parquet": _parquet,
    }
    return writers[to](read(path))


def _parquet(model: "Published") -> bytes:
    from tacit.exports.item_vectors import item_vectors

    buffer = BytesIO()
    item_vectors(model).write_parquet(buffer)
    return buffer.getvalue()
