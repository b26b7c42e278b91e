"""The next release of a series: dp-popularity, dp-ease or item-mean of all ratings so far."""

from collections.abc import Callable
from pathlib import Path

from tacit import registry
from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import FittedLists
from tacit.ratings import Ratings
from tacit.training.continual.item_means import item_mean
from tacit.training.continual.list_models import ease, popularity
from tacit.training.continual.series import Series
from tacit.training.continual.state_file import (
    SeriesState,
    SeriesTerms,
    locked,
    read_state,
    write_state,
)
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases

Model = Callable[[Series], tuple[FittedLists | Fitted, SeriesState]]
MODELS: dict[str, Model] = {
    "dp-popularity": popularity,
    "dp-ease": ease,
    "item-mean": item_mean,
}
"""Models that can be released several times under one epsilon."""


def make_release(
    folder: Path,
    ratings: Ratings,
    terms: SeriesTerms,
    *,
    releases: NoisyReleases | None = None,
) -> FittedLists | Fitted:
    """Make the next release of a series, and return its model.

    Parameters
    ----------
    folder : Path
        State of the series, which its first release creates. It stays with the curator.
    ratings : Ratings
        All ratings so far, without those that were deleted.
    terms : SeriesTerms
        Model, epsilon in nats per user of all releases together, delta, and number of releases.
    releases : NoisyReleases, optional
        Source of noise, replaced in tests only.

    Returns
    -------
    FittedLists or Fitted
        The model, with the guarantee of the complete series.

    Raises
    ------
    RequestError
        For a model without a series, terms that differ from those of the folder, after the last
        release, and while another process makes a release.
    """
    learn = registry.named(MODELS, terms.model, "--model of several releases")
    source = SecretReleases() if releases is None else releases
    account = Account(terms.epsilon, terms.delta, source)
    with locked(folder):
        series = Series.opened(folder, read_state(folder, terms), ratings, account)
        fitted, state = learn(series)
        # The state counts a release before anything of it is published.
        write_state(folder, state, series.measured)
    return fitted
