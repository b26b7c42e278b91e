"""SVD and SVD++ (Koren 2008) by stochastic gradient descent, ignoring the channel.

    r^_ui = mu + b_u + b_i + q_i . (p_u + z_u)        z_u = |N(u)|^-1/2 sum over j in N(u) of y_j

`svd` omits z_u. `svdpp` is SGDBase++ of Xian et al. N(u) are the items that u reported on.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.kernels.sgd import Doubles, Parameters, Rates, descend, implicit
from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.scale import OWN_BIAS_RIDGE, RATING_SPREAD

RATE, RIDGE = 0.007, 0.02  # customary for one to five stars
START = 0.1  # initial standard deviation of every factor
STARS = 4.0  # range of one to five stars


@dataclass(frozen=True, kw_only=True)
class SVD:
    """SVD and SVD++ (Koren 2008) by stochastic gradient descent, ignoring the channel.

    No setting was tuned. `factors`: K. `epochs`: over all reports. `rate`: learning rate.
    `ridge`: per report, on each parameter it updates. `implicit`: whether to use implicit feedback
    (SVD++).
    """

    factors: int = 20
    epochs: int = 20
    rate: float = RATE
    ridge: float = RIDGE
    implicit: bool = False

    @property
    def name(self) -> str:
        """Name of the model on the command line."""
        return "svdpp" if self.implicit else "svd"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Fit to the reported numbers as if they were ratings.

        Predictions are clipped to the scale.
        """
        mu, centred = in_stars(data)
        at = self._start(data, rng)
        shared = self.rate if self.implicit else 0.0
        rates = Rates(self.rate, self.rate, self.rate, shared)
        for epoch in range(self.epochs):
            descend(data.layout.users, centred, at, rates, self.ridge)
            advance((epoch + 1) / self.epochs)
        return _fitted(self.name, data, mu, at)

    def _start(self, data: Evidence, rng: int) -> Parameters:
        """Return small random factors.

        Without the implicit part every y_j is zero, and stays so.
        """
        draw, (m, n) = np.random.default_rng(rng), (len(data.user_ids), len(data.item_ids))
        p, q, y = (START * draw.standard_normal((rows, self.factors)) for rows in (m, n, n))
        return Parameters(np.zeros(m), np.zeros(n), p, q, y * self.implicit)


def in_stars(data: Evidence) -> tuple[float, Doubles]:
    """Return the mean report mu, and (report - mu) on a scale of one to five stars, shape (n,).

    Reports are clipped to the scale: gradient descent diverges on numbers far off it.
    """
    values = np.clip(data.values.astype(np.float64), data.scale.values[0], data.scale.values[-1])
    mu = float(values.mean())
    return mu, (values - mu) / star(data)


def star(data: Evidence) -> float:
    """Return the length of one star (of five) on this scale."""
    return (data.scale.values[-1] - data.scale.values[0]) / STARS


def _fitted(name: str, data: Evidence, mu: float, at: Parameters) -> Fitted:
    """Return a point estimate with the linear link. A user's row is p_u + z_u."""
    users, unit = data.layout.users, star(data)
    rows = np.column_stack([at.b_u, at.p + implicit(users, at.y)])
    items = np.column_stack([unit * at.b_i, at.q])
    # Initial values that no report has updated are noise.
    rows[users.counts == 0] = 0
    items[data.layout.items.counts == 0] = 0
    return Fitted.point(
        name,
        data,
        mu=mu,
        people=unit * rows,
        items=items,
        precision=own_precision(rows[users.counts > 0]),
        guarantee=data.guarantee,
    )


def own_precision(rows: Doubles) -> Doubles:
    """Return the prior precision of a device's row: rating noise over the mean square of rows.

    `rows`: in stars, shape (users, 1 + K). The prior mean of a device's row is zero here: z_u is
    not among the presence features of an item model.
    """
    precision = (RATING_SPREAD * STARS) ** 2 / np.maximum(np.mean(rows**2, axis=0), 1e-12)
    precision[0] = min(precision[0], OWN_BIAS_RIDGE)
    return precision
