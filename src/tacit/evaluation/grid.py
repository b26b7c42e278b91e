"""A grid of experiments that can be interrupted, and goes on where it stopped."""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol as Interface
from typing import TypeVar

from tacit.evaluation.journal import Journal
from tacit.evaluation.results import AnyRow
from tacit.metrics.split import SplitProtocol
from tacit.ratings import Ratings

IDENTITY = "identity"
ROUNDS = "rounds"
"""The plan of a training: no channel is chosen, and devices answer as often as it asks."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment: everything that its rows depend on but chance.

    `data` is a fingerprint of the ratings, `settings` whatever else all experiments share; both
    are here so that no row of another run is taken for one of this.
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
        """The experiment as one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def label(self) -> str:
        """The experiment as a progress bar shows it."""
        source = self.channel or self.plan
        noise = source if self.epsilon is None else f"{source} at {self.epsilon}"
        place = f"seed {self.seed}" + ("" if self.fold is None else f", fold {self.fold}")
        return f"{self.model}, {noise}, {place}"


class Keyed(Interface):
    """A experiment of some grid."""

    @property
    def key(self) -> str:
        """All that its rows depend on but chance, as one line of JSON."""
        ...

    @property
    def label(self) -> str:
        """As a progress bar shows it."""
        ...


AnyExperiment = TypeVar("AnyExperiment", bound=Keyed)
Progress = Callable[[str, int, int], None]


def fingerprint(ratings: Ratings) -> str:
    """A checksum of the rows: other data, or the same in another order, differ."""
    columns = [ratings.users, ratings.items, ratings.levels]
    columns += [] if ratings.held_out is None else [ratings.held_out]
    return "-".join(f"{zlib.crc32(column.tobytes()):08x}" for column in columns)


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
    """The whole grid, the identity always in it and once; models that share reports in a row.

    `trainings` (name, mode) choose what leaves themselves: they run once an epsilon and mode, with
    no channel; `floors` learn nothing, and run without privacy alone. A channel of `only` runs at
    the epsilon there alone. Epsilons are in nats per value or slot, or of a training's unit.
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
    data = fingerprint(ratings)
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
    """Run every experiment that the journal lacks, in order; the rows of all of them.

    An interrupt or an error leaves the finished experiments in the journal and passes through.
    `progress` is told what runs now and how many experiments of how many are done.
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
