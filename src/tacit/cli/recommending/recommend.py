"""`tacit recommend`: the best items for one person, at the provider or on their own device."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.recommending.unknown_items import say_unknown
from tacit.errors import DataError

if TYPE_CHECKING:
    from tacit.models import Fitted
    from tacit.ratings import Ratings


USER_COLUMNS = ("user", "userId", "user_id")
ITEM_COLUMNS = ("item", "movieId")
"""Names of id columns in profiles, in order of preference."""


def recommend(
    model: Annotated[Path, typer.Argument(help="A model that `tacit fit` wrote.")],
    user: Annotated[str, typer.Option(help="The person's id in the data.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many items.")] = 10,
    profile: Annotated[
        Path | None,
        typer.Option(help="Their own true ratings (item,rating): recommend as their device would."),
    ] = None,
    titles: Annotated[
        Path | None, typer.Option(help="u.item, movies.dat or movies.csv, to print titles.")
    ] = None,
) -> None:
    """Print a person's best items with their predicted ratings, best first.

    Without --profile this is what the provider knows from reports. With it the last step is done
    on true ratings, as on the person's device, and items in the profile are left out. A list model
    knows nobody, and takes what the person has from --profile.

    Examples:

        tacit recommend model --user 42 -n 5

        tacit recommend model --user 42 --profile my-ratings.csv --titles ml-100k/u.item
    """
    from tacit.cli.recommending.recommend_list import from_list, is_list
    from tacit.models.fitted import Fitted

    if is_list(model):
        own = None if profile is None else _own(profile, user, "there")
        best = from_list(model, own, n)
        shown = _titles(titles, [item for item, _ in best])
        for item, score in best:
            typer.echo(f"{item}\t{score:.4f}{shown.get(item, '')}")
        return
    fitted = Fitted.load(model)
    if profile is None:
        best = fitted.recommend(user, n, notify=options.notice)
    else:
        own = _own(profile, user, str(fitted.scale))
        rated = own.item_ids.take(own.items)
        say_unknown(rated.to_list(), (fitted.item_ids.codes(rated) >= 0).tolist(), own.name)
        best = at_their_device(fitted, own, n)
    shown = _titles(titles, [item for item, _ in best])
    for item, rating in best:
        typer.echo(f"{item}\t{rating:.2f}{shown.get(item, '')}")


def at_their_device(fitted: "Fitted", own: "Ratings", n: int) -> list[tuple[Any, float]]:
    """The n best items as a person's device finds them: the published item model, own ratings."""
    from tacit.device.profile import Profile
    from tacit.models import item_model

    codes = fitted.item_ids.codes(own.item_ids.take(own.items))
    known = codes >= 0  # at least one: `say_unknown` rejects other profiles
    items: list[int | str] = fitted.item_ids.take(codes[known]).to_list()
    ratings = [own.scale.values[int(level)] for level in own.levels[known]]
    return Profile(item_model(fitted), dict(zip(items, ratings, strict=True))).recommend(n)


def _own(path: Path, user: str, scale: str) -> "Ratings":
    """A person's ratings; a table without a column of people is all theirs."""
    import polars as pl

    from tacit.readers import from_frame, read

    header = _header(path) if path.suffix == ".csv" else []
    user_columns = [name for name in USER_COLUMNS if name in header]
    if path.suffix != ".csv" or user_columns:
        columns = {"user": user_columns[0]} if user_columns else None
        everybody = read(path, scale=scale, columns=columns, notify=options.notice)
        own = everybody.where(everybody.users == everybody.user_ids.code(user))
        if not len(own):
            raise DataError(f"{path} has no rating by '{user}'; give their own ratings.")
        return own
    as_written = {name: pl.String() for name in header if name in ITEM_COLUMNS}
    try:
        table = pl.read_csv(path, schema_overrides=as_written).with_columns(user=pl.lit(user))
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path} is no table of item,rating ({reason}); write it again.") from error
    return from_frame(table, scale=scale, name=str(path), notify=options.notice)


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.readline().strip().split(",")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); give a csv of item,rating.") from error


def _titles(path: Path | None, items: list[Any]) -> dict[Any, str]:
    if path is None:
        return {}
    from tacit.readers import titles

    table = titles(path)
    shown = {str(item): item for item in items}
    pairs = table.select("item", "title").iter_rows()
    return {shown[str(item)]: f"\t{title}" for item, title in pairs if str(item) in shown}
