"""`tacit plan`: predicted error and traffic of each method, before data collection."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.planning.population import Population


def plan(
    people: Annotated[str, typer.Option(help="Number of users, as in 1e6.")],
    items: Annotated[str, typer.Option(help="Number of items.")],
    ratings_each: Annotated[str, typer.Option(help="Average number of ratings per user.")],
    person_epsilon: Annotated[str, typer.Option(help="Epsilon in nats per user at --delta.")],
    scale: Annotated[
        str | None, typer.Option(help="The rating scale, low:high:step. [1:5:1]")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="Delta of --person-epsilon. [1e-6; with --plan, .01 over the bundles of a batch]"
        ),
    ] = None,
    plan_name: Annotated[
        str | None,
        typer.Option(
            "--plan",
            help="shuffled:M predicts messages, bytes and NDCG@20 of lists from shuffled messages "
            "instead, with at most M messages about pairs per device. With --scale, RMSE of star "
            "ratings.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Seed of the synthetic users. The privacy noise is never seeded."),
    ] = 0,
    json: Annotated[
        Path | None, typer.Option(help="Write the result rows to this file (JSON).")
    ] = None,
) -> None:
    """Predict error and traffic before any data are collected.

    All methods have the same epsilon per user, as with compare --person-epsilon. The users are
    synthetic, and no data are read. A large population is simulated with a smaller sample, and the
    table marks these rows.

    Examples:

        tacit plan --people 1e6 --items 1500 --ratings-each 30 --scale 1:5:1 --person-epsilon 4

        tacit plan --people 1e5 --items 1000 --ratings-each 30 --person-epsilon 4 --plan shuffled:30
    """
    from tacit.results.records import ROWS, writable

    writable(json, beside=ROWS)

    from tacit.planning.population import Population
    from tacit.privacy.ledger import delta_text
    from tacit.scale import RatingScale

    population = Population(
        people=_count(people, "--people"),
        items=_count(items, "--items"),
        ratings_each=_count(ratings_each, "--ratings-each"),
        scale=RatingScale.parse(scale or "1:5:1"),
    )
    spread = None if delta is None else delta_text(delta)
    if plan_name is None:
        _plan_ratings(population, person_epsilon, spread or "1e-06", seed, json)
    else:
        stars = scale is not None
        _plan_shuffled(population, plan_name, person_epsilon, spread, seed, json, stars)


def _plan_ratings(
    population: "Population", epsilon: str, delta: str, seed: int, json: Path | None
) -> None:
    from tacit.experiments.comparison.user_level import RATED
    from tacit.planning.plan import Deployment, PlanRow, asked_table, expected, sentences
    from tacit.progress import bar
    from tacit.reporting.table import text
    from tacit.results.records import save

    deployment = Deployment(population=population, epsilon=epsilon, delta=delta)
    with bar("planning") as progress:
        rows = deployment.rows(seed, progress)
    if json:
        save(rows, json, PlanRow)
    words = f"{_shape(population)} ratings per user; epsilon {epsilon} per user, delta {delta}"
    for table in (expected(rows, words), asked_table(rows)):
        typer.echo(text(table) + "\n")
    typer.echo("\n".join([*sentences(rows), RATED]))


def _plan_shuffled(
    population: "Population",
    name: str,
    epsilon: str,
    delta: str | None,
    seed: int,
    json: Path | None,
    stars: bool,
) -> None:
    from tacit.collection.shuffled.plan import messages_of
    from tacit.planning.shuffled import (
        ShuffledForecast,
        ShuffledPlanRow,
        expected_accuracy,
        forecast_sentences,
    )
    from tacit.progress import bar
    from tacit.reporting.table import text
    from tacit.results.records import save

    messages = messages_of(name)
    if messages is None:
        raise RequestError(f"--plan must be shuffled:M, such as shuffled:100, got '{name}'.")
    forecast = ShuffledForecast(
        population=population, messages=messages, epsilon=epsilon, delta=delta, stars=stars
    )
    with bar("planning") as progress:
        rows = forecast.rows(seed, progress)
    if json:
        save(rows, json, ShuffledPlanRow)
    kind = "ratings" if stars else "interactions"
    words = f"{_shape(population)} {kind} per user; {name}, epsilon {epsilon} per user"
    typer.echo(text(expected_accuracy(rows, words)) + "\n")
    typer.echo("\n".join(forecast_sentences(rows)))


def _shape(people: "Population") -> str:
    return f"{people.people:,} users, {people.items:,} items, {people.ratings_each}"


def _count(text: str, option: str) -> int:
    """Parse an integer of at least 1 such as 1e6. Raises `RequestError`."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    # The bound is checked first: `int` of 1e20000000 would take minutes.
    if not number.is_finite() or not 0 < number < 10**12 or number != int(number):
        raise RequestError(f"{option} must be an integer of at least 1, as in 1e6, got {text}.")
    return int(number)
