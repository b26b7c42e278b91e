"""The model and the plan where nobody names any: lists of who did what, else predicted ratings."""

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
