"""Resumable grids of experiments."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar
from typing import Protocol as Interface

from tacit.errors import DataError
from tacit.experiments.results import AnyRow
from tacit.metrics.split import SplitProtocol
from tacit.ratings import Ratings


class Journal(Generic[AnyRow]):
    """Finished experiments with rows of one `kind`, on disk, or in memory without a path."""

    def __init__(self, path: Path | None, kind: type[AnyRow]) -> None:
        self.path = path
        self._rows: dict[str, list[AnyRow]] = {}
        if path is not None and path.exists():
            self._rows = dict(_entries(path, kind))

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def append(self, key: str, rows: Sequence[AnyRow]) -> None:
        """Append the rows of a finished experiment, durably."""
        self._rows[key] = list(rows)
        if self.path is None:
            return
        entry = {"cell": json.loads(key), "rows": [row.to_dict() for row in rows]}
        with self.path.open("ab") as file:
            # Start a new line after a partial one that a crash left.
            if file.tell() and not _ends_with_newline(self.path):
                file.write(b"\n")
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def rows(self, keys: Iterable[str]) -> list[AnyRow]:
        """Return the rows of the finished experiments, in the order of `keys`."""
        return [row for key in keys for row in self._rows.get(key, [])]

    def remove(self) -> None:
        """Delete the file, which the result file replaces."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def journal_path(result: Path | None) -> Path | None:
    """Return the path of the journal of a result file."""
    return None if result is None else result.with_name(result.name + ".journal")


def _entries(path: Path, kind: type[AnyRow]) -> Iterator[tuple[str, list[AnyRow]]]:
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
            rows = [kind.from_dict(values) for values in entry["rows"]]
            yield json.dumps(entry["cell"], sort_keys=True), rows
        except (AttributeError, DataError, KeyError, RecursionError, TypeError, ValueError):
            # A partial line or one of another version: the experiment runs again.
            continue


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


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
