"""Defaults of a comparison: models and plan by the scale, and the baselines that are added."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.ratings import Ratings
    from tacit.reports import Reports

STARS_MODEL, STARS_PLAN = "channel-mf", "rated"


def model_for(source: "Ratings | Reports") -> str:
    """Return the default model of the scale. EASE only up to its maximum number of items."""
    from tacit.models.lists.ease import MOST_ITEMS

    if not source.scale.has_one_level:
        return STARS_MODEL
    return "ease" if source.n_items <= MOST_ITEMS else "graph-filter"


def plan_for(source: "Ratings | Reports") -> str:
    """Return the default plan. On a one-level scale, "rated" would hide nothing."""
    return "catalogue" if source.scale.has_one_level else STARS_PLAN


def with_baselines(models: Sequence[str]) -> tuple[str, ...]:
    """Add the baselines: random lists, popularity, and private popularity if there is a trainer of
    list models. No duplicates."""
    from tacit.results.comparison.row import POPULARITY, PRIVATE_POPULARITY, RANDOM
    from tacit.training import LIST_TRAININGS

    private = [PRIVATE_POPULARITY] if any(name in LIST_TRAININGS for name in models) else []
    return tuple(dict.fromkeys([*models, RANDOM, POPULARITY, *private]))
