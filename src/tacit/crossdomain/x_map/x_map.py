"""X-Map (Guerraoui et al. 2017): AlterEgos from meta-paths, and neighbours among them.

`nx-map` is the pipeline without privacy: baseliner, extender, generator, recommender. `x-map` draws
replacements at epsilon each and neighbours at epsilon' each. Its claim sums the two once. The draws
are counted, because each is a separate release.

Both are as published: similarities are not damped, and neighbours are computed from the AlterEgos
of test users and the original target profiles. `nx-map-everybody` is Tacit's variant: all users
with source ratings have an AlterEgo, so that target items have more raters, and similarities are
damped.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

import numpy as np

from tacit.crossdomain.neighbours import (
    Adjusted,
    Neighbours,
    TargetProfiles,
    compare_profiles,
    predict_by_items,
    predict_by_people,
    target_items,
)
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.crossdomain.x_map import private_neighbours, replacement
from tacit.crossdomain.x_map.baseliner import baseline, compare_items
from tacit.crossdomain.x_map.extender import Extension, extend, extend_by_stages
from tacit.crossdomain.x_map.refit import Memory, Remembered
from tacit.crossdomain.x_map.replacement import NOTHING, Draws, alteregos
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.kernels.neighbourhood.search_results import Near, Wanted
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.privacy.ledger import epsilon_text, nano
from tacit.ratings import Codes, Mask
from tacit.scale import shortest

SHARES = {"item": Decimal(3) / 11, "user": Decimal(2) / 3}
"""Share of epsilon for replacements: the paper's .3 of .3 + .8, and .6 of .6 + .3."""
AlterEgos = Literal["tested", "everybody"]
"""Users whose source ratings are mapped to the target."""


class Map(NamedTuple):
    """The X-Sims of all source items, and the replacement of each, shape (items,)."""

    extension: Extension
    chosen: Codes


class FittedXMap(NamedTuple):
    """The map, the target profiles with AlterEgos, the neighbours, the guarantee, and what a later
    refit needs, None without an earlier memory."""

    map: Map
    profile: TargetProfiles
    near: Near
    guarantee: Guarantee
    memory: Memory | None


class Budget(NamedTuple):
    """Claimed epsilons of replacements and neighbours, nats as decimal strings."""

    replacement: str
    neighbours: str


@dataclass(frozen=True, kw_only=True)
class XMap:
    """`variant`: kind of neighbours. `mode`: "none" (nx-map) or "faithful" (x-map).

    `alteregos`: users with an AlterEgo, in addition to all target ratings: the "tested" ones, as
    published, or "everybody". `k`: number of neighbours, and of edges that an item keeps towards a
    layer. `damping`: similarities are multiplied by min(n, damping) / damping, and their sums are
    damped. 0 for neither, as published. Not used in private draws of neighbours. `decay`: for the
    item variant. `stages`: compute X-Sims from the k strongest links of each stage instead of all
    meta-paths. `neighbour_epsilon`: nats for neighbours, in addition to those for replacements.
    None: divide one epsilon between both, as the paper does. `draws`: replaced in tests only.

    Raises `RequestError` for settings out of range.
    """

    variant: Literal["item", "user"] = "item"
    mode: Literal["none", "faithful"] = "none"
    alteregos: AlterEgos = "tested"
    k: int = 50
    damping: int = 0
    decay: float = 0.0
    stages: bool = False
    neighbour_epsilon: str | None = None
    draws: Draws | None = None

    def __post_init__(self) -> None:
        if self.k < 1 or self.damping < 0 or self.decay < 0:
            raise RequestError(
                f"k must be at least 1, and damping and decay 0 or more, got k {self.k}, damping "
                f"{self.damping} and decay {self.decay:g}."
            )
        if self.alteregos not in get_args(AlterEgos):
            raise RequestError(f"alteregos must be tested or everybody, got '{self.alteregos}'.")

    @property
    def name(self) -> str:
        """Name in result rows."""
        name = "nx-map" if self.mode == "none" else "x-map"
        return name if self.alteregos == "tested" else f"{name}-everybody"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`. Raises `RequestError` in faithful mode without an
        epsilon."""
        return self.explain(trial, engine=engine, epsilon=epsilon)[1]

    def explain(
        self, trial: Trial, *, engine: Engine, epsilon: str | None = None
    ) -> tuple[Map, TrialPredictions]:
        """Return the map and the predictions. Raises as `predict` does."""
        fitted = self.fit(trial, engine=engine, epsilon=epsilon)
        predicted = self._predict(fitted.profile, fitted.near, trial, engine)
        return fitted.map, TrialPredictions(predicted, fitted.guarantee)

    def fit(
        self,
        trial: Trial,
        *,
        engine: Engine,
        epsilon: str | None = None,
        memory: Memory | None = None,
    ) -> FittedXMap:
        """Compute the map, the AlterEgos and the neighbours.

        `memory`: of an earlier fit with the same settings, or an empty one, for item-based systems
        without privacy. The result is the same with and without. Raises as `predict` does, and
        `RequestError` for a memory that the system cannot use.
        """
        trial.require_stars()
        budget = self.budget(epsilon)
        if memory is not None and (budget is not None or self.variant == "user"):
            raise RequestError(
                f"{self.name} cannot be refitted from an earlier fit; only item-based systems "
                "without privacy can."
            )
        draws, ratings = self.draws or Draws.secret(), trial.domains.ratings
        items = compare_items(ratings)
        if memory is not None:
            items = memory.recall("items", items, ratings.item_ids, ratings.user_ids)
        mapped = self.map(trial, engine, budget, draws, items)
        profile = alteregos(trial, mapped.chosen, self._mapped_users(trial))
        alike = compare_profiles(profile, trial, self.variant)
        if memory is None or isinstance(items, Adjusted):
            near = self._neighbours(alike, trial, engine, budget, draws)
            guarantee = NO_PRIVACY if budget is None else _claim(mapped.chosen, near, budget)
            return FittedXMap(mapped, profile, near, guarantee, None)
        targets = memory.recall("target", alike, ratings.item_ids, ratings.user_ids)
        rows = target_items(trial)
        near = targets.nearest(rows, rows, self.neighbourhood.wanted, engine)
        after = memory.after(ratings.item_ids, {"items": items, "target": targets})
        return FittedXMap(mapped, profile, near, NO_PRIVACY, after)

    def budget(self, epsilon: str | None) -> Budget | None:
        """Return the epsilons of replacements and neighbours. None without privacy.

        Decimal strings, in nats per draw. Raises `RequestError` in faithful mode without an
        epsilon, and for one that is not a positive decimal or too large for replacements.
        """
        if self.mode == "none":
            return None
        if epsilon is None:
            raise RequestError("X-Map as published requires an epsilon to claim, such as 1.")
        total = epsilon_text(epsilon)
        nano(total)  # bounded, so that the shares can be computed
        if self.neighbour_epsilon is not None:
            nano(epsilon_text(self.neighbour_epsilon))
            parts = Budget(total, self.neighbour_epsilon)
        else:
            first = (Decimal(total) * SHARES[self.variant]).quantize(Decimal("1e-9"))
            parts = Budget(shortest(first), shortest(Decimal(total) - first))
        replacement.check_epsilon(parts.replacement)
        return parts

    def map(
        self,
        trial: Trial,
        engine: Engine,
        budget: Budget | None,
        draws: Draws,
        alike: Adjusted | Remembered | None = None,
    ) -> Map:
        """Run baseliner, extender and generator. `alike`: of all items, default: compared here."""
        in_target = trial.domains.of_item == trial.target
        wanted = Wanted(self.k, self.damping)
        base = baseline(alike or compare_items(trial.domains.ratings), in_target, engine, wanted)
        staged = extend_by_stages(base, in_target, self.k, engine) if self.stages else None
        extension = staged or extend(base, in_target, engine)
        if budget is None:
            return Map(extension, replacement.best(extension, len(in_target)))
        n_items, at = len(in_target), budget.replacement
        return Map(extension, replacement.drawn(extension, n_items, at, draws, engine))

    def _mapped_users(self, trial: Trial) -> Mask:
        """Return the mask of users with an AlterEgo, shape (people,)."""
        mask = np.full(trial.domains.ratings.n_users, self.alteregos == "everybody")
        mask[trial.people] = True
        return mask

    def _neighbours(
        self,
        alike: Adjusted,
        trial: Trial,
        engine: Engine,
        budget: Budget | None,
        draws: Draws,
    ) -> Near:
        rows, columns = self._compared(trial)
        if budget is None:
            return alike.nearest(rows, columns, self.neighbourhood.wanted, engine)
        return private_neighbours.drawn(
            alike, rows, columns, self.k, budget.neighbours, draws, engine
        )

    def _compared(self, trial: Trial) -> tuple[Codes, Codes]:
        """Return the rows that need neighbours, and the candidates."""
        if self.variant == "item":
            return target_items(trial), target_items(trial)
        return trial.people, np.arange(trial.domains.ratings.n_users, dtype=np.int32)

    def _predict(
        self, profile: TargetProfiles, near: Near, trial: Trial, engine: Engine
    ) -> Predicted:
        if self.variant == "item":
            return predict_by_items(profile, near, trial, self.neighbourhood, engine)
        return predict_by_people(profile, near, trial, self.neighbourhood, engine)

    @property
    def neighbourhood(self) -> Neighbours:
        """Settings of the neighbourhood. Private draws of neighbours use no damping."""
        return Neighbours(self.k, self.decay, self.damping if self.mode == "none" else 0)


EVERYBODY = XMap(alteregos="everybody", damping=50)
"""`nx-map-everybody`, Tacit's variant, item-based."""


def _claim(chosen: Codes, near: Near, budget: Budget) -> Guarantee:
    """Return the published claim, with the number of draws in the reason why it fails."""
    replacements, neighbours = int((chosen != NOTHING).sum()), int((near.code >= 0).sum())
    return Guarantee(
        epsilon=shortest(Decimal(budget.replacement) + Decimal(budget.neighbours)),
        unit="user",
        trust="curator",
        released="an AlterEgo and predictions from its neighbours",
        fails=(
            f"{replacements:,} replacements at epsilon {budget.replacement} and {neighbours:,} "
            f"neighbours at epsilon {budget.neighbours} per row were drawn, and epsilons add up; "
            "candidates, means and predictions depend on the raw ratings; the sensitivity of a "
            "similarity is underestimated"
        ),
    )
