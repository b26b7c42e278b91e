"""A model that is sound: matrix factorization with as few factors as there are primary colours."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tacit.models import MF, Evidence, Fitted


@dataclass(frozen=True, kw_only=True)
class ThreeFactors:
    """Matrix factorization with three factors."""

    name = "three-factors"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """The fitted model."""
        fitted = MF(factors=3).fit(data, rng=rng, advance=advance)
        return replace(fitted, model=self.name)
