"""Resumable grids of experiments."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Generic, TypeVar
from typing import Protocol as Interface

from tacit.evaluation.journal import Journal
from tacit.evaluation.results import AnyRow
from tacit.metrics.split import SplitProtocol
from tacit.ratings import Ratings

IDENTITY = "identity"
ROUNDS = "rounds"
"""Plan of a trainer, which queries the devices in rounds, without a channel."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment: everything that determines its rows, except random noise.

    `data`: a fingerprint of the ratings. `settings`: settings shared by all experiments. Both are
    part of the key, so that rows of other runs are not reused.
    """

    dataset: str
    data: str
    plan: str
    cap: int | None
    channel: str | None
    epsilon: str | None
    model: str
    mode: str
    seed: int
    fold: int | None
    settings: str = ""

    @property
    def key(self) -> str:
        """Unique key: one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def label(self) -> str:
        """Label in progress bars."""
        source = self.channel or self.plan
        noise = source if self.epsilon is None else f"{source} at {self.epsilon}"
        split = f"seed {self.seed}" + ("" if self.fold is None else f", fold {self.fold}")
        return f"{self.model}, {noise}, {split}"


class Keyed(Interface):
    """An experiment of a grid."""

    @property
    def key(self) -> str:
        """Everything that determines its rows, except random noise, as one line of JSON."""
        ...

    @property
    def label(self) -> str:
        """Label in progress bars."""
        ...


Value = TypeVar("Value")
AnyExperiment = TypeVar("AnyExperiment", bound=Keyed)
Progress = Callable[[str, int, int], None]


def experiments(
    ratings: Ratings,
    protocol: SplitProtocol,
    *,
    channels: Sequence[str],
    models: Sequence[str],
    epsilons: Sequence[str],
    trainings: Sequence[tuple[str, str]] = (),
    floors: Sequence[str] = (),
    plan: str = "rated",
    cap: int | None = None,
    only: Mapping[str, str] | None = None,
    settings: str = "",
) -> list[Experiment]:
    """Return the complete grid. Experiments that share reports are consecutive.

    The identity channel is always included, once. `trainings`: (name, mode) of trainers, which run
    once per epsilon and mode, without a channel. `floors`: baselines without a fit, which run
    without privacy only. `only`: channels that run at a single epsilon. Epsilons are in nats per
    value or slot, or per unit of a trainer.
    """
    at = only or {}
    known = [(name, "strict") for name in models]
    noises: list[tuple[str | None, str | None, Sequence[tuple[str, str]]]] = [
        (IDENTITY, None, [*known, *((name, "strict") for name in floors)])
    ]
    noises += [
        (name, epsilon, known)
        for epsilon in epsilons
        for name in channels
        if name != IDENTITY and at.get(name, epsilon) == epsilon
    ]
    noises += [(None, epsilon, trainings) for epsilon in epsilons]
    data = ratings.fingerprint
    return [
        Experiment(
            dataset=ratings.name,
            data=data,
            plan=plan if channel else ROUNDS,
            cap=cap if channel else None,
            channel=channel,
            epsilon=epsilon,
            model=model,
            mode="none" if epsilon is None else mode,
            seed=seed,
            fold=fold,
            settings=f"{protocol.words}; {settings}",
        )
        for seed, fold in protocol.places()
        for channel, epsilon, names in noises
        for model, mode in names
    ]


def run(
    experiments: Sequence[AnyExperiment],
    measure: Callable[[AnyExperiment], Sequence[AnyRow]],
    journal: Journal[AnyRow],
    progress: Progress = lambda label, done, total: None,
) -> list[AnyRow]:
    """Run all experiments that are not in the journal, in order. Returns the rows of all of them.

    An interrupt or an error propagates. Finished experiments stay in the journal. `progress` is
    called with the current label, the number of finished experiments and the total.
    """
    done = sum(experiment.key in journal for experiment in experiments)
    for experiment in experiments:
        if experiment.key in journal:
            continue
        progress(experiment.label, done, len(experiments))
        journal.append(experiment.key, measure(experiment))
        done += 1
    progress("", done, len(experiments))
    return journal.rows(experiment.key for experiment in experiments)


class Latest(Generic[Value]):
    """Cache of the last value."""

    def __init__(self) -> None:
        self._key: object = None
        self._value: Value | None = None

    def of(self, key: object, make: Callable[[], Value]) -> Value:
        """Return the cached value if it is that of `key`, otherwise make it."""
        if self._value is None or key != self._key:
            self._value = None  # freed first: two tables of reports would double the memory
            self._key, self._value = key, make()
        return self._value
