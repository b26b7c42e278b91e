"""channel-mf: Bayesian matrix factorization that knows the channel its reports came through.

Each cell has a taste theta_ui = mu + b_u + b_i + p_u . q_i; the true rating is a noisy reading of
it, the report a draw from the channel's table. Posterior draws of all of it come from Gibbs sweeps
whose conditionals are read off the score and Fisher information of the exact likelihood, so that
one sampler serves every epsilon, and mixed channels, from next to nothing to no noise at all.
Where who-rated-what is public, it shapes the priors of people and items.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.models.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.sampler import Draw, Sampler


@dataclass(frozen=True, kw_only=True)
class ChannelMF:
    """Settings of quality; none of them touches privacy, all of it is post-processing.

    `factors`: K, or None to let the reports decide: no more directions than they carry units of
    information per unknown. `burn_in`, `kept`: sweeps. `draws`: posterior draws the model keeps
    (at most 32). `directions`: of the presence matrix that shape the priors; 0 for none, None to
    let the reports decide likewise.
    """

    factors: int | None = None
    burn_in: int = 40
    kept: int = 96
    draws: int = 32
    directions: int | None = None

    name = "channel-mf"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Learn from reports; `advance` is told the share of work done after each sweep."""
        sampler = Sampler(data, self.factors, self.directions, np.random.default_rng(rng))
        kept: list[Draw] = []
        total, every = self.burn_in + self.kept, max(1, self.kept // self.draws)
        for sweep in range(total):
            sampler.sweep()
            if sweep >= self.burn_in and (total - 1 - sweep) % every == 0:
                kept.append(sampler.draw())
            advance((sweep + 1) / total)
        return _fitted(self.name, data, sampler, kept[-self.draws :])


def _fitted(name: str, data: Evidence, sampler: Sampler, draws: list[Draw]) -> Fitted:
    return Fitted(
        model=name,
        scale=data.scale,
        user_ids=data.user_ids,
        item_ids=data.item_ids,
        mu=np.array([draw.mu for draw in draws]),
        people=np.stack([draw.people for draw in draws]),
        items=np.stack([draw.items for draw in draws]),
        precision=np.stack([draw.precision for draw in draws]),
        sigma=sampler.scores.sigma,
        guarantee=data.guarantee,
        presence=sampler.presence,
        prior_weights=(
            np.stack([draw.prior_weights for draw in draws]) if sampler.presence else None
        ),
    )
