"""A training that is sound: item biases by a curator, whose noise can be replayed."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tacit.models import Fitted
from tacit.ratings import Ratings
from tacit.training import training
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases


@dataclass(frozen=True, kw_only=True)
class ItemBias:
    """Biases of items by a curator, epsilon per value."""

    name = "item-bias"
    where = ("device",)
    unit = "value"

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "0",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
        releases: NoisyReleases | None = None,
    ) -> Fitted:
        """The fitted model, with its guarantee."""
        noise = releases or SecretReleases()
        known = training("dp-bias")
        fitted = known.fit(ratings, epsilon=epsilon, rng=rng, advance=advance, releases=noise)
        return replace(fitted, model=self.name)
