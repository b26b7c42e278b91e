"""Members with one fault each, which `tacit check` must find."""

from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from tacit_example.channels import Exponential
from tacit_example.models import ThreeFactors
from tacit_example.trainings import ItemBias


@dataclass(frozen=True, kw_only=True)
class Understated(Exponential):
    """The same table, with a claim of half of what it spends."""

    def table(self):
        return replace(super().table(), epsilon=str(Decimal(self.epsilon) / 2))


@dataclass(frozen=True, kw_only=True)
class Moody:
    """Other factors at every fit, whatever the seed."""

    name = "moody"

    def fit(self, data, *, rng=0, advance=lambda done: None):
        fitted = ThreeFactors().fit(data, rng=rng)
        chance = np.random.default_rng().normal(0, 1e-4, fitted.items.shape)
        return replace(fitted, model=self.name, items=fitted.items + chance.astype(np.float32))


@dataclass(frozen=True, kw_only=True)
class Untidy:
    """Writes into the evidence that it learns from."""

    name = "untidy"

    def fit(self, data, *, rng=0, advance=lambda done: None):
        fitted = ThreeFactors().fit(data, rng=rng)
        data.values[:] = 0
        return replace(fitted, model=self.name)


@dataclass(frozen=True, kw_only=True)
class Indiscreet:
    """Publishes the true mean beside what it paid for."""

    name = "indiscreet"
    where = ("device",)

    def fit(self, ratings, *, epsilon, delta="0", rng=0, advance=None, releases=None):
        fitted = ItemBias().fit(ratings, epsilon=epsilon, rng=rng, releases=releases)
        return replace(fitted, model=self.name, mu=fitted.mu * 0 + ratings.values.mean())
