"""`tacit split-domains`: split one data set into two domains."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.options import Columns, Data, Format, Rounding, Scale

if TYPE_CHECKING:
    import polars as pl

    from tacit.crossdomain.genres import GenreSplit


def split_domains(
    data: Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the output files.")],
    by_genre: Annotated[
        bool,
        typer.Option(
            "--by-genre", help="Assign genres to the two domains in turn, most frequent first."
        ),
    ] = False,
    items: Annotated[
        Path | None,
        typer.Option(
            help="File of items and genres: movies.dat, movies.csv, u.item or "
            "items.parquet. [next to the ratings]"
        ),
    ] = None,
    format: Format = None,
    scale: Scale = None,
    columns: Columns = None,
    rounding: Rounding = None,
) -> None:
    """Split one data set into a source and a target domain.

    Use the two domains to evaluate cross-domain recommendation. The command writes source.parquet,
    target.parquet and, if titles are known, items.parquet.

    Examples:

        tacit split-domains ml-1m/ratings.dat --by-genre -o halves

        tacit split-domains ratings.csv --by-genre --items movies.csv --output halves
    """
    if not by_genre:
        raise typer.BadParameter(
            "a splitting rule is required; use --by-genre", param_hint="--by-genre"
        )
    if output.exists() and not output.is_dir():
        raise typer.BadParameter(
            f"must be a folder, got the file '{output}'", param_hint="--output"
        )

    from tacit.atomic_files import require_distinct
    from tacit.crossdomain.genres import SIDES, GenreSplit, Halves
    from tacit.readers import items as catalogue

    targets = [output / f"{name}.parquet" for name in (*SIDES, "items")]
    require_distinct(targets, (data, items, *_read_in(data, items, targets)))
    split = GenreSplit(catalogue(items or data, options.pairs(columns)))
    halves = Halves.of(options.load(data, format, scale, columns, rounding), split)
    output.mkdir(parents=True, exist_ok=True)
    for name, half in zip(SIDES, (halves.source, halves.target), strict=True):
        _write(half.to_polars(), output / f"{name}.parquet")
    if split.items["title"].count():
        joined = split.items.with_columns(genres=split.items["genres"].list.join("|"))
        _write(joined, output / "items.parquet")
    typer.echo(_table(split) + "\n\n" + "\n".join(halves.sentences))
    gone, ratings = halves.left_out
    if gone:
        options.notice(
            f"{gone:,} items without a genre were left out, together with their "
            f"{ratings:,} ratings."
        )


def _read_in(data: Path, items: Path | None, targets: Sequence[Path]) -> list[Path]:
    """Return the files named as one of `targets` that are read in the folder of the data."""
    names = [each.name for each in targets] if data.is_dir() else []
    if items is None:
        names.append("items.parquet")
    folder = data if data.is_dir() else data.parent
    return [path for name in names if (path := folder / name).exists()]


def _table(split: "GenreSplit") -> str:
    from tacit.crossdomain.genres import SIDES
    from tacit.reporting.table import Table, text

    rows: list[tuple[str, int, int]] = split.genres.rows()
    lines = tuple((genre, str(count), SIDES[side]) for genre, count, side in rows)
    return text(Table("Genres by number of items", ("genre", "items", "side"), lines))


def _write(frame: "pl.DataFrame", path: Path) -> None:
    from tacit.atomic_files import atomic

    with atomic(path) as partial:
        frame.write_parquet(partial)
