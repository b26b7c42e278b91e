"""Cached results of studies: an interrupted study resumes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Generic, NamedTuple, Self, TypeVar

from tacit.errors import DataError
from tacit.experiments.experiment import Experiment, Journal
from tacit.progress import Progress, bar
from tacit.results.records import AnyRow

AnyCase = TypeVar("AnyCase", bound=tuple[Any, ...])
AnyKey = TypeVar("AnyKey")
Figures = dict[str, float]
"""What was measured of one case, by name."""


@dataclass(frozen=True)
class Measured:
    """The figures of one case, as a journal keeps them."""

    figures: Figures

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return dict(self.figures)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the results written by `to_dict`; raises `DataError` for other values."""
        if not all(isinstance(value, int | float) for value in values.values()):
            raise DataError(f"{values} are not numbers; measure them again.")
        return cls(dict(values))


class CaseExperiment(NamedTuple, Generic[AnyCase]):
    """One case of a study on some data."""

    study: str
    data: str
    case: AnyCase

    @property
    def key(self) -> str:
        """All that its figures depend on but chance, as one line of JSON."""
        return json.dumps(dict(self._asdict()), sort_keys=True)

    @property
    def label(self) -> str:
        """As a progress bar shows it."""
        return " ".join(str(part) for part in self.case if part not in ("", None))


@dataclass(frozen=True)
class Kept:
    """Journals in a `folder`, one a study; in memory alone without one. `data`: a checksum of what
    is measured on, so that no figure of other data is taken for one of these."""

    folder: Path | None = None
    data: str = ""

    def journal(self, study: str, kind: type[AnyRow]) -> Journal[AnyRow]:
        """The finished experiments of a study, with rows of that kind."""
        if self.folder is None:
            return Journal(None, kind)
        self.folder.mkdir(parents=True, exist_ok=True)
        return Journal(self.folder / f"{study}.jsonl", kind)

    def measured(
        self, study: str, cases: Sequence[AnyCase], measure: Callable[[AnyCase], Figures]
    ) -> dict[AnyCase, Figures]:
        """Return the results of every case, from the cache or measured, in order.

        A case is everything that determines its results except the data and random noise.
        """
        with bar(study) as progress:
            return self._run(study, cases, measure, progress)

    def _run(
        self,
        study: str,
        cases: Sequence[AnyCase],
        measure: Callable[[AnyCase], Figures],
        progress: Progress,
    ) -> dict[AnyCase, Figures]:
        journal = self.journal(study, Measured)
        asked = [CaseExperiment(study, self.data, case) for case in cases]

        def measurement(one: CaseExperiment[AnyCase]) -> list[Measured]:
            return [Measured(measure(one.case))]

        experiment = Experiment[CaseExperiment[AnyCase], Measured](
            title=study, row=Measured, cells=asked, measure=measurement
        )
        experiment.rows(journal, progress)
        return {one.case: journal.rows([one.key])[0].figures for one in asked}


def by_draw(
    measured: Mapping[AnyCase, Figures], key: Callable[[AnyCase], AnyKey]
) -> dict[AnyKey, list[Figures]]:
    """Group figures by all of a case except its draw or split, in the order of the draws."""
    groups: dict[AnyKey, list[Figures]] = {}
    for case, figures in measured.items():
        groups.setdefault(key(case), []).append(figures)
    return groups


def averaged(groups: Mapping[AnyKey, Sequence[Figures]]) -> dict[AnyKey, Figures]:
    """Return the mean of each figure over the draws of each group."""
    return {
        key: {name: fmean(one[name] for one in draws) for name in draws[0]}
        for key, draws in groups.items()
    }


def samples(draws: Sequence[Figures], name: str) -> list[float]:
    """Return one figure of every draw."""
    return [figures[name] for figures in draws]
