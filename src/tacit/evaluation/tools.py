"""The real channels, plan and models behind the grid."""

from collections.abc import Sequence
from typing import Any

from tacit import channels, models
from tacit.channels.table import Channel
from tacit.collection.perturb import perturb as perturbed
from tacit.collection.rated import Rated
from tacit.errors import RequestError
from tacit.evaluation.cell import AUTO, Tools
from tacit.evaluation.grid import IDENTITY
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale


def channel(name: str, epsilon: str, scale: RatingScale) -> Channel:
    """The channel of that name, or for "auto" the most telling one under a public prior."""
    if name == AUTO:
        return channels.choose(epsilon=epsilon, scale=scale)[1]
    return channels.compile(name, epsilon=epsilon, scale=scale)


def perturb(ratings: Ratings, channel: Channel, cap: int | None) -> Reports:
    """What leaves the devices when everybody answers through `channel`."""
    return perturbed(ratings, Rated(channel, cap))


def fit(model: str, data: Ratings | Reports, *, rng: int, **options: Any) -> models.Fitted:
    """The fitted model; `options` that it has no setting for are left out."""
    chosen = models.model(model)
    settings = {name: value for name, value in options.items() if hasattr(chosen, name)}
    return models.fit(model, data, rng=rng, **settings)


def tools() -> Tools:
    """The tools that `tacit compare` runs on."""
    return Tools(channel, perturb, fit, models.device_predict)


def check(channel_names: Sequence[str], model_names: Sequence[str]) -> None:
    """Raise `RequestError` for a name that does not exist, before any work is done."""
    _among("channel", channel_names, [AUTO, IDENTITY, *channels.MECHANISMS])
    _among("model", model_names, list(models.MODELS))


def _among(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise RequestError(f"There is no {kind} '{name}'; choose from {', '.join(known)}.")
