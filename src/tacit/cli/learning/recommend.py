"""`tacit recommend`: top items of a user, at the provider or on the device."""

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from tacit.cli import options
from tacit.cli.learning.own_ratings import own_ratings, source_ratings
from tacit.errors import DataError, RequestError

if TYPE_CHECKING:
    from tacit.device.profile import RankBy
    from tacit.models import Fitted, FittedLists
    from tacit.ratings import Ratings
    from tacit.wire.list_model import ListModel

Figure = Literal["rating", "score"]
DECIMALS: dict[Figure, int] = {"rating": 2, "score": 4}
"""Decimals of a predicted rating and of a score in a table."""


def recommend(
    model: Annotated[Path, typer.Argument(help="The model file written by `tacit fit`.")],
    user: Annotated[str | None, typer.Option(help="The user's id in the data.")] = None,
    everybody: Annotated[
        bool, typer.Option("--all", help="Recommend to all users of the model, into --output.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file of --all: .parquet or .csv."),
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of items.")] = 10,
    profile: Annotated[
        Path | None,
        typer.Option(
            help="File of the user's true ratings (columns item,rating), to personalize as on the "
            "device."
        ),
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option(
            help="Ratings of a source domain that contain the user, for a cross-domain map. "
            "Repeatable."
        ),
    ] = None,
    hide: Annotated[
        Path | None, typer.Option(help="A table with a column item: items not to recommend.")
    ] = None,
    titles: Annotated[
        Path | None,
        typer.Option(
            help="File of item titles: a table with columns item and title, u.item, movies.dat or "
            "movies.csv."
        ),
    ] = None,
    rank_by: options.RankBy = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the top items of a user, best first.

    The command prints each item with its predicted rating. Items are ranked by expected gain: how
    likely the user is to interact with an item, times how high the user would rate it. Without
    --profile, the recommendations are the provider's, based on the user's reports. With --profile,
    they are personalized with the user's true ratings, as on the device, and exclude the items in
    the profile. A list model stores no users and requires --profile. A cross-domain map requires
    --profile or --source, and recommends items of its target domain. With --all, one row per user
    and item is written to a file, with the columns user, item, title and rating or score.

    Examples:

        tacit recommend model --user 42 -n 5

        tacit recommend model --user 42 --profile my-ratings.csv --titles ml-100k/u.item

        tacit recommend map --user 42 --profile my-books.csv

        tacit recommend map --user 42 --source books.csv

        tacit recommend model --user 42 --titles ml-100k/u.item --json

        tacit recommend model --all -n 20 -o lists.parquet
    """
    if everybody == (user is not None) or everybody != (output is not None):
        raise RequestError("Give either --user, or --all with --output.")
    if json and everybody:
        raise RequestError("--json applies to --user; with --all, --output is a table.")
    if everybody:
        options.refuse({"--profile": profile, "--source": source}, "with --all")
    from tacit.results.records import writable

    writable(output, read=(model, hide, titles))
    order = cast("RankBy | None", rank_by)
    hidden = _hidden(hide)
    if user is None:
        to_all(model, cast("Path", output), n, titles, order, hidden)
        return
    best, figure = _best(model, user, n, profile, source or [], order, hidden)
    title_of = _titles(titles, [item for item, _ in best])
    if json:
        named = [{"title": title_of.get(item)} if titles else {} for item, _ in best]
        rows = [
            {"item": item, **name, figure: float(value)}
            for (item, value), name in zip(best, named, strict=True)
        ]
        typer.echo(dumps(rows, ensure_ascii=False))
        return
    for item, value in best:
        title = f"\t{title_of[item]}" if item in title_of else ""
        typer.echo(f"{item}\t{value:.{DECIMALS[figure]}f}{title}")


def _best(
    path: Path,
    user: str,
    n: int,
    profile: Path | None,
    sources: Sequence[Path],
    rank_by: "RankBy | None",
    hidden: Sequence[int | str],
) -> tuple[list[tuple[Any, float]], "Figure"]:
    """Return the n best items of any model with ratings or scores, and which of the two.

    Raises `RequestError` for hidden items of a cross-domain map.
    """
    from tacit.crossdomain.x_map.released import is_map
    from tacit.models import Fitted, load

    if is_map(path):
        if hidden:
            raise RequestError(f"--hide does not apply to the cross-domain map {path}.")
        return from_map(path, user, profile, sources, n), "rating"
    if sources:
        raise RequestError(f"--source requires a cross-domain map, which {path} is not.")
    fitted = load(path)
    if not isinstance(fitted, Fitted):
        ratings = None if profile is None else own_ratings(profile, user, "there")
        return from_list(fitted, path, user, ratings, n, hidden), "score"
    if profile is None:
        notify = options.notice
        return fitted.recommend(user, n, exclude=hidden, rank_by=rank_by, notify=notify), "rating"
    ratings = own_ratings(profile, user, str(fitted.scale))
    rated = ratings.item_ids.take(ratings.items)
    notify_unknown(rated.to_list(), (fitted.item_ids.codes(rated) >= 0).tolist(), ratings.name)
    return on_device(fitted, ratings, n, rank_by, hidden), "rating"


def to_all(
    path: Path,
    output: Path,
    n: int,
    titles: Path | None,
    rank_by: "RankBy | None",
    hidden: Sequence[int | str] = (),
) -> None:
    """Write the n best items of every user of a model with users, atomically, without hidden ones.

    Raises `RequestError` for a model without users, for another ending of `output`, and for
    `rank_by` with a top-N model.
    """
    from tacit.atomic_files import atomic
    from tacit.models import FittedLists, load
    from tacit.wire.list_model import ListModel

    if output.suffix not in (".parquet", ".csv"):
        raise RequestError(f"--output must end in .parquet or .csv, got {output}.")
    fitted = load(path)
    if isinstance(fitted, ListModel):
        raise RequestError(f"{path} is a list model, which stores no users, so --all has none.")
    users = fitted.user_ids.ids
    if isinstance(fitted, FittedLists):
        if rank_by is not None:
            raise RequestError("--rank-by requires a rating model.")
        lists = fitted.recommend(users, n, exclude=hidden, titles=titles)
    else:
        lists = fitted.recommend(users, n, exclude=hidden, titles=titles, rank_by=rank_by)
    with atomic(output) as partial:
        lists.write_parquet(partial) if output.suffix == ".parquet" else lists.write_csv(partial)
    options.notice(f"{len(lists):,} rows for {len(users):,} users are in {output}.")


def on_device(
    fitted: "Fitted",
    profile: "Ratings",
    n: int,
    rank_by: "RankBy | None" = None,
    hidden: Sequence[int | str] = (),
) -> list[tuple[Any, float]]:
    """Return the n best items as on a device: fold-in of the user's ratings into the item model."""
    from tacit.device.profile import Profile
    from tacit.models import item_model

    codes = fitted.item_ids.codes(profile.item_ids.take(profile.items))
    known = codes >= 0  # at least one: `notify_unknown` rejects other profiles
    items: list[int | str] = fitted.item_ids.take(codes[known]).to_list()
    ratings = [profile.scale.values[int(level)] for level in profile.levels[known]]
    model = item_model(fitted).hiding(hidden)
    profiled = Profile(model, dict(zip(items, ratings, strict=True)))
    return profiled.recommend(n, rank_by)


def from_map(
    path: Path, user: str, profile: Path | None, sources: Sequence[Path], n: int
) -> list[tuple[Any, float]]:
    """Return the n best items of a map's target domain for the user of a profile, or of sources.

    Raises `RequestError` unless exactly one of both is set, and `DataError` if the map contains
    none of the user's items.
    """
    from tacit.crossdomain.x_map.released import load_map
    from tacit.labels.files import STATED

    fitted = load_map(path)
    if (profile is None) != bool(sources):
        raise RequestError(
            f"{path} is a cross-domain map, which stores no users; exactly one of --profile and "
            "--source is required."
        )
    scale = str(fitted.scale)
    if profile is not None:
        ratings = own_ratings(profile, user, scale)
    else:
        ratings = source_ratings(sources, user, scale)
    rated = ratings.item_ids.take(ratings.items)
    notify_unknown(rated.to_list(), (fitted.indices(ratings) >= 0).tolist(), ratings.name)
    stated = "" if fitted.guarantee.epsilon is None else f" {STATED.capitalize()}."
    options.notice(fitted.guarantee.sentence + stated)
    return fitted.recommend(ratings, n, notify=options.notice)


def from_list(
    fitted: "FittedLists | ListModel",
    path: Path,
    user: str,
    ratings: "Ratings | None",
    n: int,
    hidden: Sequence[int | str] = (),
) -> list[tuple[Any, float]]:
    """Return the n best items for the user of a profile, or without one for a user of the model.

    `path`: of the model, for messages. Raises `RequestError` without a profile for a model without
    users, and `DataError` if the model has none of the profile's items.
    """
    from tacit.device.list_profile import ListProfile
    from tacit.models import list_model
    from tacit.wire.list_model import ListModel

    if ratings is None and not isinstance(fitted, ListModel):
        return fitted.recommend(user, n, exclude=hidden, notify=options.notice)
    if ratings is None:
        raise RequestError(f"{path} is a list model, which stores no users; --profile is required.")
    model = fitted if isinstance(fitted, ListModel) else list_model(fitted)
    had = ratings.item_ids.take(ratings.items).to_list()
    known = {str(item): item for item in model.items}
    notify_unknown(had, [str(item) in known for item in had], ratings.name)
    mine = [known[str(item)] for item in had if str(item) in known]
    return ListProfile(model.hiding(hidden) if hidden else model, mine).recommend(n)


def notify_unknown(items: Sequence[object], known: Sequence[bool], profile: str) -> None:
    """Print the number of profile items outside the model, and the first one.

    `known`: whether the model has each item. `profile`: name of the profile. Raises `DataError` if
    the model has none of the items.
    """
    unknown = [item for item, has in zip(items, known, strict=True) if not has]
    if len(unknown) == len(items):
        raise DataError(
            f"The model contains none of the {len(items)} items in {profile} (the first is "
            f"'{items[0]}'). Use ids from the model's catalogue."
        )
    if unknown:
        options.notice(
            f"The model does not contain {len(unknown)} of the {len(items)} items in {profile} "
            f"(the first is '{unknown[0]}'). They are ignored."
        )


def _hidden(path: Path | None) -> list[int | str]:
    if path is None:
        return []
    from tacit.readers import catalogue

    return catalogue(path)["item"].to_list()


def _titles(path: Path | None, items: list[Any]) -> dict[Any, str]:
    if path is None:
        return {}
    from tacit.readers import titles

    table = titles(path)
    shown = {str(item): item for item in items}
    pairs = table.select("item", "title").iter_rows()
    return {shown[str(item)]: title for item, title in pairs if str(item) in shown}
