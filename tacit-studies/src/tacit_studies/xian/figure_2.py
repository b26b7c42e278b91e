"""Xian et al.'s Figure 2: RMSE against epsilon of noise in training, with baselines and channel-mf.

Every trainer of a curator as published and as it holds, the bases without privacy (`svdpp` is
SGDBase++ and `als-svdpp` is ALSBase++), and `channel-mf` on reports, without a trusted curator.
Constants that are lost are settings, for the methods as published and for psgd and pals.
"""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.channels import choose_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.learners import fit
from tacit.metrics.accuracy import rmse
from tacit.metrics.split import SplitProtocol
from tacit.models import Fitted
from tacit.ratings import Ratings
from tacit.training import TRAININGS, FaithfulSVD
from tacit.training.papers.berlioz import Berlioz
from tacit_studies.claim import PaperClaim, StudyResult
from tacit_studies.kept import Figures, Kept
from tacit_studies.paper import whole_profiles
from tacit_studies.xian.curves import BASES, OWN, Errors, drawn, errors_of, means, table
from tacit_studies.xian.orders import MARGIN

PEERS = ("psgd", "pals")
MODES = ("faithful", "strict")
TOLD = {"faithful": "as published, at the claimed epsilon", "strict": "as it holds"}


Curve = Mapping[str, Sequence[float]]
"""The error of every draw of noise, by epsilon."""


class NoiseCase(NamedTuple):
    """A method of a mode at an epsilon, in nats per value; without privacy that is empty."""

    method: str
    mode: str
    epsilon: str
    noise: int
    constants: tuple[tuple[str, str], ...]
    ratings: int | None


@dataclass(frozen=True)
class XianFigure2:
    """RMSE of all methods. `noises`: draws of noise at each of the `epsilons`, in nats per value.
    `methods`: those to measure, empty for all. `ridge`, `rounds`, `factors`, `count` (own or all)
    and `y` (descent or mean): constants that the paper does not state. `ratings`: complete profiles
    are added in the order of their public hashes up to this number, None for all."""

    noises: int = 5
    epsilons: tuple[str, ...] = ("0.5", "1", "2", "5", "10", "16")
    methods: tuple[str, ...] = ()
    ratings: int | None = None
    ridge: float | None = None
    rounds: int | None = None
    factors: int | None = None
    count: str | None = None
    y: str | None = None

    name: ClassVar[str] = "figure-2"
    title: ClassVar[str] = "Figure 2: error against epsilon of noise in training"
    covers: ClassVar[tuple[str, ...]] = ("Figure 2", "Table 2", "equations (1) to (3)")
    own_data: ClassVar[str] = ""

    def find(self, data: Ratings, kept: Kept) -> StudyResult:
        """Every method in both modes on split 0, a tenth held out."""
        own = data if self.ratings is None else whole_profiles(data, self.ratings)
        held = SplitProtocol().test(own, 0, None)
        measure = partial(self._measured, own.where(~held), own.where(held))
        errors = errors_of(kept.measured(self.name, list(self._cases()), measure))
        curves = means(errors)
        whole = not self.methods
        return StudyResult(
            claims=tuple(claims(errors, self.epsilons)) if whole else (),
            tables=(table(curves, self.epsilons),),
            drawing=drawn(curves, self.epsilons) if whole else None,
            described="RMSE of every method against epsilon, as it holds and as published.",
            remarks=(
                f"Mean of {self.noises} draws of noise on one split. The paper has curves, and its "
                "constants, and how y is learnt, are lost. The bases of the ++ forms are svdpp "
                "(SGDBase++) and als-svdpp (ALSBase++), without privacy.",
            ),
        )

    @property
    def constants(self) -> dict[str, Any]:
        """Those that were given."""
        known = {name: getattr(self, name) for name in ("ridge", "rounds", "factors", "count", "y")}
        return {name: value for name, value in known.items() if value is not None}

    def _cases(self) -> Iterator[NoiseCase]:
        for method, mode, epsilon, noise in self._grid():
            if not self.methods or method in self.methods:
                constants = tuple((name, str(value)) for name, value in self.constants.items())
                yield NoiseCase(method, mode, epsilon, noise, constants, self.ratings)

    def _grid(self) -> Iterator[tuple[str, str, str, int]]:
        for name in BASES:
            yield name, "none", "", 0
        for noise in range(self.noises):
            for epsilon in self.epsilons:
                yield OWN, "nobody trusted", epsilon, noise
                for (name, mode), member in TRAININGS.items():
                    if "curator" in member.where and mode in MODES:
                        yield name, mode, epsilon, noise

    def _measured(self, train: Ratings, test: Ratings, case: NoiseCase) -> Figures:
        fitted = self._fitted(train, case)
        predicted = fitted.predict_codes(test.users, test.items)
        ends = float(test.scale.low), float(test.scale.high)
        return {"rmse": rmse(test.values, np.clip(predicted, *ends))}

    def _fitted(self, train: Ratings, case: NoiseCase) -> Fitted:
        if not case.epsilon:
            return fit(case.method, train)
        if case.method == OWN:
            channel = choose_channel(epsilon=case.epsilon, scale=train.scale)[1]
            return fit(OWN, perturb(train, Rated(channel)))
        member = with_constants(TRAININGS[case.method, case.mode], self.constants)
        return member.fit(train, epsilon=case.epsilon, rng=case.noise)


def with_constants(member: Any, constants: Mapping[str, Any]) -> Any:
    """A paper's training with those constants that it has; any other as it is."""
    if not isinstance(member, FaithfulSVD | Berlioz):
        return member
    has = {field.name for field in fields(member)}
    return replace(member, **{name: value for name, value in constants.items() if name in has})


def claims(errors: Errors, epsilons: Sequence[str]) -> Iterator[PaperClaim]:
    """Judge what the paper claims of its methods, in both modes."""
    for mode in MODES:

        def of(method: str, mode: str = mode) -> Curve:
            return {e: errors[method, mode, e] for e in epsilons if (method, mode, e) in errors}

        yield best(f"objective is the best of three, {TOLD[mode]}", of("dpsaobj"), {
            name: of(name) for name in ("dpss", "dpsaout")
        })  # fmt: skip
        for name in ("dpss", "dpsaobj", "dpsaout"):
            yield PaperClaim.of_draws(
                f"{name}++ below {name}, {TOLD[mode]}", of(f"{name}++"), of(name), least=MARGIN
            )
        yield best(f"dpsaobj++ below psgd and pals, {TOLD[mode]}", of("dpsaobj++"), {
            name: of(name, "strict") for name in PEERS
        })  # fmt: skip


def best(
    words: str,
    better: Mapping[str, Sequence[float]],
    others: Mapping[str, Mapping[str, Sequence[float]]],
) -> PaperClaim:
    """Judge whether one method's error is below that of each of several, at every epsilon."""
    pairs = [(e, name) for name, curve in others.items() for e in curve if e in better]
    return PaperClaim.of_draws(
        words,
        {f"{e} ({name})": better[e] for e, name in pairs},
        {f"{e} ({name})": others[name][e] for e, name in pairs},
        least=MARGIN,
    )
