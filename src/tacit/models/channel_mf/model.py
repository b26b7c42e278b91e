"""Bayesian matrix factorization with the exact likelihood of the channel, by Gibbs sampling.

Each cell has a taste theta_ui = mu + b_u + b_i + p_u . q_i; the true rating is a noisy reading of
it, the report a draw from the channel's table. Posterior draws of all of it come from Gibbs sweeps
whose conditionals are read off the score and Fisher information of the exact likelihood, so that
one sampler serves every epsilon, and mixed channels, from next to nothing to no noise at all.
Where who-rated-what is public, it shapes the priors of people and items.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from tacit.engines.engine import Engine
from tacit.engines.local import Local
from tacit.engines.tables import opened
from tacit.models.channel_mf.capacity import affordable_draws
from tacit.models.channel_mf.gibbs import GibbsChain
from tacit.models.channel_mf.item_features import item_features
from tacit.models.condensing.condensed import condensed
from tacit.models.condensing.taught import taught
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.screening import screened
from tacit.models.fit_tables import fit_tables
from tacit.models.fitted import Fitted


@dataclass(frozen=True, kw_only=True)
class ChannelMF:
    """Settings of quality; none of them touches privacy, all of it is post-processing.

    `factors`: K, or None to let the reports decide: no more than they carry units of information
    per unknown, but half as many as presence directions, up to 9. `directions`: of the presence
    matrix that shape the priors; 0 for none, None to let the reports decide likewise. `draws`:
    posterior draws the model keeps, at most 64; None for as many as keep their item rows within
    64 MiB, but at least 4. Devices get them condensed in one. `burn_in`: sweeps before the first
    of them; `every`: sweeps between two. `screened`: leave out reports that look made up
    (`tacit.models.evidence.screening`).

    `engine`: where half-sweeps run, None for this process; digits are the same on any. `state`: a
    folder that all workers reach, for reports, rows and draws; a fit that was killed goes on from
    its last whole sweep when it is started again. None for memory.
    """

    factors: int | None = None
    directions: int | None = None
    draws: int | None = None
    burn_in: int = 100
    every: int = 2
    item_table: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    screened: bool = False
    engine: Engine | None = field(default=None, repr=False, compare=False)
    state: Path | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The model's name on the command line."""
        return "channel-mf-screened" if self.screened else "channel-mf"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Learn from reports; `advance` is told the share of work done after each sweep.

        Raises `RequestError` for an engine without `state`, and where that folder holds a fit of
        other reports or settings.
        """
        data = screened(data) if self.screened else data
        described = [] if self.item_table is None else item_features(self.item_table, data.item_ids)
        values = (each.values for each in described)
        start = data.layout.users.start
        kept = fit_tables(self, rng, start, data.item_of, data.symbols, data.likelihood, *values)
        chain = GibbsChain(
            data, self.factors, self.directions, described, self.burn_in, rng,
            self.engine or Local.over_cells(len(data)), kept,
        )  # fmt: skip
        draws = self.draws or affordable_draws(chain.width, data)
        total = self.burn_in + self.every * draws
        chain.resume()
        while chain.sweeps < total:
            chain.sweep()
            if chain.sweeps > self.burn_in and (total - chain.sweeps) % self.every == 0:
                chain.keep()
            chain.save()
            advance(chain.sweeps / total)
        return _fitted(self.name, data, chain)


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
            mu, items, precision, weights, chain.people.mean_gram, sigma, chain.told
        ),
    )
    return replace(fitted, condensed=taught(fitted, data))
