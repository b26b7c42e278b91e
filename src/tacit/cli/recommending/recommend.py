"""`tacit recommend`: top items of a user, at the provider or on the device."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.recommending.own_ratings import own_ratings
from tacit.cli.recommending.unknown_items import say_unknown

if TYPE_CHECKING:
    from tacit.models import Fitted
    from tacit.ratings import Ratings


def recommend(
    model: Annotated[Path, typer.Argument(help="The model file written by `tacit fit`.")],
    user: Annotated[str, typer.Option(help="The user's id in the data.")],
    n: Annotated[int, typer.Option("-n", min=1, help="Number of items.")] = 10,
    profile: Annotated[
        Path | None,
        typer.Option(
            help="File of the user's true ratings (columns item,rating), to recommend "
            "as on the device."
        ),
    ] = None,
    titles: Annotated[
        Path | None, typer.Option(help="File of titles: u.item, movies.dat or movies.csv.")
    ] = None,
) -> None:
    """Print the top items of a user, best first.

    The command prints each item with its predicted rating. Without --profile, the recommendations
    come from the provider's estimate from the user's reports. With --profile, they are personalized
    with the user's true ratings, as on the device, and exclude the items in the profile. A list
    model stores no users and requires --profile.

    Examples:

        tacit recommend model --user 42 -n 5

        tacit recommend model --user 42 --profile my-ratings.csv --titles ml-100k/u.item
    """
    from tacit.cli.recommending.recommend_list import from_list, is_list
    from tacit.models.fitted import Fitted

    if is_list(model):
        ratings = None if profile is None else own_ratings(profile, user, "there")
        best = from_list(model, ratings, n)
        shown = _titles(titles, [item for item, _ in best])
        for item, score in best:
            typer.echo(f"{item}\t{score:.4f}{shown.get(item, '')}")
        return
    fitted = Fitted.load(model)
    if profile is None:
        best = fitted.recommend(user, n, notify=options.notice)
    else:
        ratings = own_ratings(profile, user, str(fitted.scale))
        rated = ratings.item_ids.take(ratings.items)
        say_unknown(rated.to_list(), (fitted.item_ids.codes(rated) >= 0).tolist(), ratings.name)
        best = at_their_device(fitted, ratings, n)
    shown = _titles(titles, [item for item, _ in best])
    for item, rating in best:
        typer.echo(f"{item}\t{rating:.2f}{shown.get(item, '')}")


def at_their_device(fitted: "Fitted", profile: "Ratings", n: int) -> list[tuple[Any, float]]:
    """Return the n best items as on a device: fold-in of the user's ratings into the item model."""
    from tacit.device.profile import Profile
    from tacit.models import item_model

    codes = fitted.item_ids.codes(profile.item_ids.take(profile.items))
    known = codes >= 0  # at least one: `say_unknown` rejects other profiles
    items: list[int | str] = fitted.item_ids.take(codes[known]).to_list()
    ratings = [profile.scale.values[int(level)] for level in profile.levels[known]]
    return Profile(item_model(fitted), dict(zip(items, ratings, strict=True))).recommend(n)


def _titles(path: Path | None, items: list[Any]) -> dict[Any, str]:
    if path is None:
        return {}
    from tacit.readers import titles

    table = titles(path)
    shown = {str(item): item for item in items}
    pairs = table.select("item", "title").iter_rows()
    return {shown[str(item)]: f"\t{title}" for item, title in pairs if str(item) in shown}
