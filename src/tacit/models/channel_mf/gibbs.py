"""Gibbs sampler of `channel-mf`: sweeps over the global level, users, items and their priors.

Rows are updated by Metropolis-Hastings on the exact likelihood of the reports: one scoring step
proposes, the likelihood accepts or rejects (`tacit.kernels.gibbs_rows`). Conditionals of the priors
are sampled exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.engines.tables import State, Table, Tables, opened
from tacit.errors import RequestError
from tacit.models.channel_mf.likelihood import (
    INFORMATIVE,
    information_fraction,
    residual_scales,
    score_table,
    starting_level,
    worth,
    worthwhile_directions,
    worthwhile_factors,
)
from tacit.models.channel_mf.row_prior import LevelPrior, with_expected_presence
from tacit.models.channel_mf.side import NAMES, ChainSide, Given, generator
from tacit.models.evidence.evidence import Evidence
from tacit.models.evidence.item_features import Features
from tacit.models.evidence.presence_features import Presence, presence
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.presence_spectrum import MOST_HIDDEN, Spectrum, spectrum
from tacit.models.evidence.slot_reports import presence_mixture
from tacit.models.evidence.warm_start import WarmStart
from tacit.vocabulary import check_codes

APPROACH = 0.7
"""Fraction of the burn-in (warm-up) that accepts every proposal: far from the mode, few would be
accepted. Thetas at its end fix the weights of the cells, which must not follow the chain."""
SPREAD_EVERY = 8  # sweeps after warm-up: residual scales change slowly
SMALL = ("mu", "precision", "prior_weights")
"""Parts of a draw stored in the sampler state; its rows are tables."""
STEPS, NEAR = 8, 0.02  # most scoring steps for the mode of mu; tolerance in standard deviations
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

MOST_COLUMNS = 1 << 16
"""Most columns of the likelihood, whose numbers have 16 bits."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One posterior draw. `people`, `items`: tables of rows."""

    mu: float
    people: Table
    items: Table
    precision: Floats
    prior_weights: Floats


class GibbsChain:
    """Gibbs sampler state. `sweep` advances it in place."""

    def __init__(
        self,
        data: Evidence,
        factors: int | None,
        directions: int | None,
        described: Sequence[Features],
        burn_in: int,
        seed: int,
        engine: Engine,
        tables: Tables,
    ) -> None:
        matrix = data.presence  # before `_read` turns reports into reports of ratings
        data, decomposition = _read(data)
        self.seed, self.engine, self.tables = seed, engine, tables
        self.draws: list[Draw] = []
        usual = score_table(data.likelihood, data.blocks, data.scale)
        self.mu = starting_level(usual, data)
        ratings = worth(usual, data, self.mu)
        self.information_fraction = information_fraction(usual, data, self.mu)
        spreads = residual_scales(self.information_fraction)
        self.scores = score_table(data.likelihood, data.blocks, data.scale, spreads)
        if directions is None:
            K = factors or worthwhile_factors(ratings, 0, data)
            directions = worthwhile_directions(ratings, K, data)
        self.presence = _presence(matrix, decomposition, directions, described)
        retained = self.presence.directions if self.presence else 0
        self.width = 1 + (factors or worthwhile_factors(ratings, retained, data))
        range_ = data.scale.values[-1] - data.scale.values[0]
        self.level = LevelPrior(float(np.mean(data.scale.values)), (4 / range_) ** 2)
        people, items = self._features(matrix, described)
        start = partial(
            ChainSide.start,
            symbols=_narrow(data.symbols), width=self.width, range_=range_, seed=seed,
            engine=engine, tables=tables,
        )  # fmt: skip
        self.spreads_vary = len(spreads) > 1
        self.moves_weights = self.information_fraction < INFORMATIVE and self.presence is not None
        self.people = start(0, data.layout.users, given=people, spread=spreads.index(1.0))
        self.items = start(1, data.layout.items, given=items, spread=0)
        self.readings = self.scores.readings
        self.counts = np.zeros(self.readings.root.shape, np.int64)
        self.sweeps, self.approach = 0, max(int(APPROACH * burn_in), 1)

    def sweep(self) -> None:
        """Redraw mu, residual scales, users, items and priors, each given the others."""
        self.sweeps += 1
        if self.sweeps > 1:
            self._draw_mu()
        if self.sweeps == self.approach + 1:
            for side, other in ((self.people, self.items), (self.items, self.people)):
                side.settle(self._inputs(side, other), self.engine)
        if self.spreads_vary and self.sweeps > self.approach and self.sweeps % SPREAD_EVERY == 0:
            inputs = self._inputs(self.people, self.items)
            self.people.redraw_spreads(inputs, self.engine, self.tables)
        self._draw_side(self.people, self.items)
        self.counts = self._draw_side(self.items, self.people)

    def start_from(self, start: WarmStart, number: int) -> None:
        """Continue from a draw of an earlier model; users and items that it lacks keep theirs."""
        draw = start.draw(number)
        self.mu = draw.mu
        self.people.start_from(draw.people, start.known_people, self.tables)
        self.items.start_from(draw.items, start.known_items, self.tables)

    def keep(self) -> None:
        """Append a copy of the state to the draws, with mu at its conditional mode.

        Where reports carry little information, draws of one number for all cells differ by half a
        star, and thirty of them do not determine its mean.
        """
        prior, number = self.people.prior, len(self.draws)
        draw = Draw(
            self._likeliest_mu(),
            self.tables.put(f"people-draw-{number:02}", self.people.raised),
            self.tables.put(f"items-draw-{number:02}", self.items.raised),
            prior.precision.astype(np.float32),
            prior.weights.astype(np.float32),
        )
        self.draws.append(draw)

    def save(self) -> None:
        """Save the state, from which an interrupted chain resumes."""
        sides = (self.people, self.items)
        stale = [table for side in sides for table in side.stale]
        self.tables.save(self._state(), stale)
        for side in sides:
            side.stale.clear()

    def _state(self) -> State:
        state = {"sweeps": np.array(self.sweeps), "mu": np.array(self.mu), "counts": self.counts}
        prior = self.people.prior
        like = (np.zeros(()), prior.precision.astype("f4"), prior.weights.astype("f4"))
        for name, one in zip(SMALL, like, strict=True):
            draws = np.array([getattr(draw, name) for draw in self.draws], one.dtype)
            state[f"draws-{name}"] = draws.reshape(len(self.draws), *one.shape)
        return state | self.people.state() | self.items.state()

    def resume(self) -> None:
        """Restore the last saved state, if any."""
        state = self.tables.last(like=self._state())
        if state is None:
            return
        self.sweeps, self.mu = int(state["sweeps"]), float(state["mu"])
        self.counts = state["counts"]
        for side in (self.people, self.items):
            side.resume(state, self.sweeps, self.tables)
            check_codes(
                "spreads", opened(side.spreads), len(self.scores.log_q) // self.scores.symbols
            )
        sides = (self.people, self.items)
        for number, (mu, precision, weights) in enumerate(
            zip(*(state[f"draws-{name}"] for name in SMALL), strict=True)
        ):
            people, items = (
                self.tables.known(f"{side.name}-draw-{number:02}", opened(side.rows))
                for side in sides
            )
            self.draws.append(Draw(float(mu), people, items, precision, weights))

    def _inputs(self, side: ChainSide, other: ChainSide) -> Given:
        key, approach = (self.seed, self.sweeps, side.number), self.sweeps <= self.approach
        return side.given(other, self.mu, self.readings, key, approach)

    def _draw_side(self, side: ChainSide, other: ChainSide) -> NDArray[np.int64]:
        inputs = self._inputs(side, other)
        if self.moves_weights and self.sweeps % len(NAMES) == side.number:
            inputs = side.moved(self.sweeps // len(NAMES) % self.width, inputs, self.engine)
        counts = side.redraw(inputs, self.engine, self.tables)
        rng = generator((self.seed, self.sweeps, side.number + 2))
        drawn = self.level.redrawn(self.mu, side.sums, side.prior, rng)
        self.mu, side.shift = drawn, self.mu - drawn
        return counts

    def _draw_mu(self) -> None:
        step, weight = self._scoring_step(0.0)
        rng = generator((self.seed, self.sweeps, 4))
        self.mu += step + rng.standard_normal() / np.sqrt(weight)

    def _likeliest_mu(self) -> float:
        shift = 0.0
        for _ in range(STEPS):
            step, weight = self._scoring_step(shift)
            shift += step
            if abs(step) < NEAR / np.sqrt(weight):
                break
        return self.mu + shift

    def _scoring_step(self, shift: float) -> tuple[float, float]:
        """Return the scoring step from mu + shift towards its mode, and the information there."""
        score, information = self.scores.of_level(self.counts, shift)
        weight = information + self.level.precision
        away = self.mu + shift - self.level.centre
        return (score - self.level.precision * away) / weight, weight

    def _features(
        self, matrix: PresenceMatrix, described: Sequence[Features]
    ) -> tuple[list[Features], list[Features]]:
        if self.presence is None:
            return [], list(described)
        people = self.presence.supposed(matrix)
        items = with_expected_presence(self.presence.item_features, matrix.is_observed, described)
        ends = np.cumsum([items.shape[1], *(len(each.order) for each in described)])
        presence_means, *means = np.split(people, ends[:-1], axis=1)
        rated = [replace(each, values=mean) for each, mean in zip(described, means, strict=True)]
        return [Features.by_rank(presence_means), *rated], [Features.by_rank(items), *described]


def _narrow(symbols: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.uint16]:
    """Return the columns of all symbols in 16 bits, as kernels read them."""
    if symbols.max(initial=0) >= MOST_COLUMNS:
        raise RequestError(
            f"channel-mf reads at most {MOST_COLUMNS:,} symbols of all channels and directions, "
            f"got {int(symbols.max()) + 1:,}; use channels of fewer symbols, or another model."
        )
    return symbols.astype(np.uint16)


def _read(data: Evidence) -> tuple[Evidence, Spectrum | None]:
    """Return the evidence as reports of ratings, and the presence spectrum if that needed one."""
    if data.hidden is None:
        return data, None
    decomposition = spectrum(data.presence, MOST_HIDDEN)
    rated = decomposition.probabilities(data.presence, data.user_of, data.item_of)
    return presence_mixture(data, data.hidden, rated), decomposition


def _presence(
    matrix: PresenceMatrix,
    decomposition: Spectrum | None,
    directions: int,
    described: Sequence[Features],
) -> Presence | None:
    if not directions or min(matrix.shape) <= 2:
        return None
    known = decomposition.leading(directions) if decomposition else spectrum(matrix, directions)
    values = [np.zeros((matrix.shape[1], 0)), *(each.values for each in described)]
    return presence(matrix, known).with_means_of(np.hstack(values), matrix)
