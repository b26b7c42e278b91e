"""`tacit fit --releases`: the next release of a series under one epsilon per user."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli import options
from tacit.cli.learning.files import is_reports, write_model
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.training.continual.state_file import SeriesTerms

OPTIONS = (
    "data", "output", "model", "epsilon", "delta", "format", "scale", "implicit", "columns",
    "rounding", "catalogue", "people", "positive_only", "state", "releases",
)  # fmt: skip
"""Parameters of `tacit fit` that a series of releases has."""


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """Options of `tacit fit` for a series, as typed. `load`: positional arguments of `options.load`
    after the path. `state`: the folder of the series."""

    data: Path | None
    output: Path
    model: str | None
    epsilon: str | None
    delta: float
    releases: int
    state: Path | None
    load: tuple[str | None, ...]
    catalogue: Path | None
    people: Path | None
    positive_only: bool


def fit_release(request: ReleaseRequest, typed: Mapping[str, str]) -> None:
    """Make the next release of a series and write its model. Prints the guarantee of the series.

    `typed`: options on the command line, as `options.typed_options` returns them. Raises
    `RequestError` for options that a series does not have, or that are missing.
    """
    from tacit.results.records import writable
    from tacit.training.continual.release import make_release

    data, state, terms = _checked(request, typed)
    writable(request.output, read=(data, request.catalogue, request.people))
    ratings = options.load(
        data, *request.load, catalogue=request.catalogue, people=request.people,
        positive_only=request.positive_only,
    )  # fmt: skip
    fitted = make_release(state, ratings, terms)
    write_model(fitted, request.output)
    options.notice(f"{request.output}: {terms.model}. {fitted.guarantee.sentence}")


def _checked(request: ReleaseRequest, typed: Mapping[str, str]) -> "tuple[Path, Path, SeriesTerms]":
    """Return the ratings file, the folder and the terms, before data are read."""
    from tacit import registry
    from tacit.privacy.ledger import delta_text, epsilon_text
    from tacit.training.continual.prefix_sums import PrefixSums
    from tacit.training.continual.release import MODELS
    from tacit.training.continual.state_file import SeriesTerms

    if other := [option for name, option in typed.items() if name not in OPTIONS]:
        raise RequestError(f"{other[0]} is not an option of --releases; leave it out.")
    data, model, epsilon, state = request.data, request.model, request.epsilon, request.state
    if data is None or is_reports(data):
        raise RequestError("--releases requires DATA, a file of ratings.")
    if model is None or epsilon is None or state is None:
        raise RequestError(
            "--releases requires --model, --epsilon and --state, the same at every release."
        )
    registry.named(MODELS, model, "--model of --releases")
    releases = PrefixSums(request.releases).releases
    return (
        data,
        state,
        SeriesTerms(model, epsilon_text(epsilon), delta_text(request.delta), releases),
    )
