"""What runs where nobody names it: models and plan by the scale, and the floors beside them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.ratings import Ratings
    from tacit.reports import Reports

STARS_MODEL, STARS_PLAN = "channel-mf", "rated"


def model_for(source: "Ratings | Reports") -> str:
    """The model of that scale; EASE only for as many items as it takes."""
    from tacit.models.lists.ease import MOST_ITEMS

    if not source.scale.has_one_level:
        return STARS_MODEL
    return "ease" if source.n_items <= MOST_ITEMS else "graph-filter"


def plan_for(source: "Ratings | Reports") -> str:
    """A plan that leaves something to hide."""
    return "catalogue" if source.scale.has_one_level else STARS_PLAN


def beside_floors(models: Sequence[str]) -> tuple[str, ...]:
    """The models asked for, random lists and what is popular, each once; beside a training of
    lists what is popular at its own budget, too."""
    from tacit.evaluation.comparison.request import POPULARITY, RANDOM
    from tacit.training import LIST_TRAININGS, DPPopularity

    floors = [DPPopularity.name] if any(name in LIST_TRAININGS for name in models) else []
    return tuple(dict.fromkeys([*models, RANDOM, POPULARITY, *floors]))
