"""`tacit plan`: predicted error and traffic of each method, before data collection."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.planning.plan import Deployment, PlanRow


def plan(
    people: Annotated[str, typer.Option(help="Number of users, as in 1e6.")],
    items: Annotated[str, typer.Option(help="Number of items.")],
    ratings_each: Annotated[str, typer.Option(help="Average number of ratings per user.")],
    person_epsilon: Annotated[str, typer.Option(help="Epsilon in nats per user at --delta.")],
    scale: Annotated[str, typer.Option(help="The rating scale, low:high:step.")] = "1:5:1",
    delta: Annotated[float, typer.Option(help="Delta of --person-epsilon.")] = 1e-6,
    seed: Annotated[
        int, typer.Option(help="Seed of the synthetic users. The privacy noise is never seeded.")
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
    """
    from tacit.experiments.results import writable

    writable(json)

    from tacit.experiments.results import save
    from tacit.planning.plan import Deployment, PlanRow
    from tacit.planning.population import Population
    from tacit.progress import bar
    from tacit.scale import RatingScale

    population = Population(
        people=_count(people, "--people"),
        items=_count(items, "--items"),
        ratings_each=_count(ratings_each, "--ratings-each"),
        scale=RatingScale.parse(scale),
    )
    deployment = Deployment(population=population, epsilon=person_epsilon, delta=f"{delta:g}")
    with bar("planning") as progress:
        rows = deployment.rows(seed, progress)
    if json:
        save(rows, json, PlanRow)
    _print(rows, deployment)


def _print(rows: "Sequence[PlanRow]", deployment: "Deployment") -> None:
    from tacit.experiments.comparison.user_level import RATED
    from tacit.planning.plan import asked_table, expected, sentences
    from tacit.reporting.table import text

    people = deployment.population
    words = (
        f"{people.people:,} users, {people.items:,} items, {people.ratings_each} ratings per "
        f"user; epsilon {deployment.epsilon} per user, delta {deployment.delta}"
    )
    for table in (expected(rows, words), asked_table(rows)):
        typer.echo(text(table) + "\n")
    typer.echo("\n".join([*sentences(rows), RATED]))


def _count(text: str, option: str) -> int:
    """Parse an integer of at least 1 such as 1e6. Raises `RequestError`."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number != int(number) or not 0 < number < 10**12:
        raise RequestError(f"{option} must be an integer of at least 1, as in 1e6, got {text}.")
    return int(number)
