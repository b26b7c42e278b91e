"""Bayesian matrix factorization with the exact likelihood of the channel, by Gibbs sampling.

Each cell has a latent preference theta_ui = mu + b_u + b_i + p_u . q_i. The true rating is a noisy
observation of it, and the report is a draw from the channel's table. Gibbs sweeps draw from the
posterior; their conditionals use the score and Fisher information of the exact likelihood. One
sampler therefore covers every epsilon, mixed channels, and no noise at all. Where presence is
public, it shapes the priors of users and items.

Distil the predictions of all posterior draws into the condensed item model for devices.

`condensed` keeps means, so it loses the joint uncertainty of items and the curvature of the link.
Where the provider has the ratings themselves, it can compute a device's fold-in. For some users u,
with rows x_u under the condensed draw,

    mean_d theta_ui(d) - theta_ui  ~  a_i + b_i . x_u        (least squares over u, each item i)

is the error of item i; a_i is added to its bias, b_i to its factors. Size and format are unchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.engines.engine import Engine, Local
from tacit.engines.tables import opened
from tacit.errors import integer
from tacit.kernels.layout import Side
from tacit.models.channel_mf.gibbs import GibbsChain
from tacit.models.channel_mf.likelihood import affordable_draws
from tacit.models.distillation import CondensedItems, condensed
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.item_features import item_features
from tacit.models.evidence.screening import screened
from tacit.models.evidence.warm_start import WarmStart
from tacit.models.fit_tables import fit_tables
from tacit.models.fitted import Fitted
from tacit.models.rounded import halved
from tacit.models.simulated_devices import Downloaded

Doubles = NDArray[np.float64]
PEOPLE = 500
ENOUGH = 5  # users per coefficient, or nothing is distilled
RIDGE = 1.0  # on coefficients of rows whose prior variance is 1: one pseudo-user
AT_ONCE = 4096  # items per batch, for all these users


def taught(fitted: Fitted, data: Evidence) -> CondensedItems | None:
    """Return the condensed items, refined by `data` if it holds true ratings."""
    one = fitted.condensed
    is_exact = len(data.blocks) == 1 and np.array_equal(
        data.likelihood, np.eye(len(data.likelihood))
    )
    raters = np.flatnonzero(data.layout.users.counts)
    if one is None or not is_exact or len(raters) < ENOUGH * one.items.shape[1]:
        return one
    some = raters[np.linspace(0, len(raters) - 1, min(PEOPLE, len(raters))).astype(np.int64)]
    side, ratings = _of_people(data, some)
    all_draws, single = Downloaded.of(replace(fitted, condensed=None)), Downloaded.of(fitted)
    drawn = list(all_draws.own_rows(side, ratings))
    (rows,) = single.own_rows(side, ratings)
    regressors = np.column_stack([np.ones(len(rows)), rows[:, 1:]])
    gram = regressors.T @ regressors + RIDGE * np.eye(regressors.shape[1])
    items = one.items.astype(np.float64)
    for first in range(0, len(items), AT_ONCE):
        some_items = slice(first, first + AT_ONCE)
        lacks = _tastes(all_draws, drawn, some_items) - _tastes(single, [rows], some_items)
        items[some_items] += np.linalg.solve(gram, regressors.T @ lacks).T
    items[:, 1:] = halved(items[:, 1:])
    return replace(one, items=items.astype(np.float32))


def _of_people(data: Evidence, users: NDArray[np.int64]) -> tuple[Side, Doubles]:
    """Return the cells of these users, and their ratings in that order."""
    side, levels = data.layout.users, np.asarray(data.scale.values)
    cells = np.flatnonzero(np.isin(np.repeat(np.arange(len(side.counts)), side.counts), users))
    start = np.r_[0, np.cumsum(side.counts[users])].astype(np.int64)
    order = np.arange(len(cells), dtype=np.int32)
    return Side(start, side.other[cells], order), levels[data.symbols[side.cell[cells]]]


def _tastes(model: Downloaded, rows: list[Doubles], items: slice) -> Doubles:
    """Return theta of all these users for some items, the mean over draws, shape (users, items)."""
    total = 0.0
    for mu, x, y in zip(model.mu, rows, model.items[:, items], strict=True):
        total = total + mu + x[:, :1] + y[:, 0] + x[:, 1:] @ y[:, 1:].T.astype(np.float64)
    return np.asarray(total / len(rows), np.float64)


WARM_BURN_IN, WARM_DRAWS = 4, 28
"""Sweeps before the first draw, and draws, of a warm start."""


@dataclass(frozen=True, kw_only=True)
class ChannelMF:
    """Bayesian matrix factorization with the exact likelihood of the channel, by Gibbs sampling.

    Quality settings. None affects privacy: fitting is post-processing.

    `factors`: K, None to choose by the information in the reports (at most one factor per clean
    rating and unknown, at least half the number of presence directions up to 9). `directions`:
    presence directions that shape the priors, 0 for none, None to choose likewise. `draws`:
    retained posterior draws, at most 64; None for as many as fit their item rows in 64 MiB, at
    least 4. Devices receive one distilled draw. `burn_in`: sweeps before the first draw. `every`:
    sweeps between draws. `screened`: drop reports that look fake
    (`tacit.models.evidence.screening`).

    `warm`: an earlier `channel-mf` of fewer reports, from which this fit starts
    (`tacit.models.evidence.warm_start`), with its numbers of factors and directions:
    `WARM_BURN_IN` sweeps from its last draw, and one from each of `WARM_DRAWS` draws. None for a
    fit from scratch.

    `engine`: where half-sweeps run, None for this process. Results are identical on every engine.
    `state`: folder that all workers can reach, for reports, rows and draws; an interrupted fit
    resumes from its last complete sweep. None for memory.
    """

    factors: int | None = None
    directions: int | None = None
    draws: int | None = None
    burn_in: int = 100
    every: int = 2
    item_table: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    screened: bool = False
    warm: Fitted | None = field(default=None, repr=False, compare=False)
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: str | Path | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        integer("every", self.every, 1)

    @property
    def name(self) -> str:
        """Name of the model on the command line."""
        return "channel-mf-screened" if self.screened else "channel-mf"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Fit to reports.

        `advance`: progress callback, called after each sweep with the fraction of the work done.

        Raises `RequestError` for an engine without `state`, and for a folder that holds a fit of
        other reports or settings.
        """
        data = screened(data) if self.screened else data
        described = [] if self.item_table is None else item_features(self.item_table, data.item_ids)
        values = (each.values for each in described)
        start = data.layout.users.start
        tables = fit_tables(self, rng, start, data.item_of, data.symbols, data.likelihood, *values)
        warm = None if self.warm is None else WarmStart.of(self.warm, self.name, data)
        like = self if self.warm is None else self._warm_settings(self.warm)
        chain = GibbsChain(
            data, like.factors, like.directions, described, like.burn_in, rng,
            self.engine or Local.over_cells(len(data)), tables,
        )  # fmt: skip
        draws = self.draws or affordable_draws(chain.width, data)
        total = self.burn_in + self.every * draws
        if warm is not None:
            _continue(chain, warm, like, advance)
            return _fitted(self.name, data, chain)
        chain.resume()
        while chain.sweeps < total:
            chain.sweep()
            if chain.sweeps > self.burn_in and (total - chain.sweeps) % self.every == 0:
                chain.keep()
            chain.save()
            advance(chain.sweeps / total)
        return _fitted(self.name, data, chain)

    def _warm_settings(self, warm: Fitted) -> "ChannelMF":
        """Return the settings of a fit that starts from `warm`."""
        return replace(
            self,
            factors=warm.items.shape[2] - 1,
            directions=warm.presence.directions if warm.presence else 0,
            draws=min(self.draws or WARM_DRAWS, len(warm.mu)),
            burn_in=WARM_BURN_IN,
        )


def _continue(
    chain: GibbsChain, start: WarmStart, settings: ChannelMF, advance: Callable[[float], None]
) -> None:
    """Draw from the posterior, from draws of an earlier model of nearly the same reports.

    Consecutive draws of a chain are correlated, and so few of them would not determine a mean. The
    earlier draws are far apart: each is moved to the new posterior by one sweep. The sweeps before
    them adapt the priors, and the weights of the cells, to the new reports.
    """
    draws = settings.draws or WARM_DRAWS
    total = settings.burn_in + draws
    chain.start_from(start, -1)
    for _ in range(settings.burn_in):
        chain.sweep()
        advance(chain.sweeps / total)
    for number in np.linspace(0, len(start.model.mu) - 1, draws).astype(int).tolist():
        chain.start_from(start, number)
        chain.sweep()
        chain.keep()
        advance(chain.sweeps / total)


def _fitted(name: str, data: Evidence, chain: GibbsChain) -> Fitted:
    draws = chain.draws
    mu = np.array([draw.mu for draw in draws])
    people, items, precision, weights = (
        np.stack([opened(getattr(draw, part)) for draw in draws])
        for part in ("people", "items", "precision", "prior_weights")
    )
    sigma = chain.scores.sigma
    fitted = Fitted(
        model=name,
        scale=data.scale,
        user_ids=data.user_ids,
        item_ids=data.item_ids,
        mu=mu,
        people=people,
        items=items,
        precision=precision,
        sigma=sigma,
        guarantee=data.guarantee,
        presence=chain.presence,
        prior_weights=weights if chain.presence else None,
        condensed=condensed(
            mu, items, precision, weights, chain.people.mean_gram, sigma, chain.information_fraction
        ),
    )
    return replace(fitted, condensed=taught(fitted, data))
