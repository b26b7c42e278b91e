"""Alternating weighted least squares, the loop of every point-estimate factor model."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.als import SideProblem, half_step
from tacit.kernels.predict import bilinear
from tacit.models.evidence.evidence import Evidence

Floats = NDArray[np.float32]
FREE = np.float32(1e9)  # a ridge that fixes a bias at zero


@dataclass(eq=False)
class Factors:
    """theta_ui = mu + x_u[0] + y_i[0] + x_u[1:] . y_i[1:], and the ridge of both sides.

    `people`: shape (users, 1 + K), `items`: shape (items, 1 + K), `ridge`: shape (1 + K,).
    """

    mu: float
    people: Floats
    items: Floats
    ridge: Floats

    @classmethod
    def start(
        cls,
        data: Evidence,
        factors: int,
        ridge: float,
        bias_ridge: float,
        rng: int,
        *,
        centred: bool = True,
    ) -> Self:
        """Return small random item factors and zero user rows.

        `centred`: whether mu is the mean report, else 0.
        """
        draw = np.random.default_rng(rng)
        items = np.zeros((len(data.item_ids), 1 + factors), np.float32)
        items[:, 1:] = 0.3 * draw.standard_normal((len(items), factors))
        return cls(
            float(data.values.mean(dtype=np.float64)) if centred else 0.0,
            np.zeros((len(data.user_ids), 1 + factors), np.float32),
            items,
            np.array([bias_ridge] + [ridge] * factors, np.float32),
        )

    def scatter_people(self, rng: np.random.Generator) -> None:
        """Set small random user factors, like those of items; biases stay 0."""
        shape = self.people[:, 1:].shape
        self.people[:, 1:] = 0.3 * rng.standard_normal(shape)

    def sweep(self, data: Evidence, target: Floats, weight: Floats) -> None:
        """Solve users given items, then items given users."""
        residual = target - np.float32(self.mu)
        cells = data.layout
        arguments = residual, weight, self.ridge
        self.people = half_step(cells.users, problem(self.items, *arguments))
        self.items = half_step(cells.items, problem(self.people, *arguments))

    def predict(self, data: Evidence) -> Floats:
        """Return theta of every report's cell, shape (n,)."""
        return bilinear(data.user_of, data.item_of, self.mu, self.people, self.items)


def problem(other: Floats, residual: Floats, weight: Floats, ridge: Floats) -> SideProblem:
    """Return the least-squares problem of one side's rows given the `other` side's."""
    design = other.copy()
    design[:, 0] = 1
    return SideProblem(residual, weight, design, other[:, 0].copy(), ridge)
