"""Measurement of one trial: a system predicts, and the hidden ratings evaluate it."""

import time

from tacit import crossdomain
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import HeldOut
from tacit.crossdomain.trial import Predicted, System, Trial, require_finite, score
from tacit.engines.engine import Engine
from tacit.experiments.crossdomain.list_trials import AskedCatalogue, ListBaseline
from tacit.experiments.crossdomain.trial_cell import Parted, TrialCell
from tacit.experiments.experiment import Latest
from tacit.privacy.guarantee import Guarantee
from tacit.results.crossdomain.rows import FIGURES, TrialRow


class TrialMeasurement:
    """Measures cells on one set of domains, and caches the last trial."""

    def __init__(self, domains: Domains, engine: Engine) -> None:
        self._domains = domains
        self._engine = engine
        self._trials = Latest[tuple[HeldOut, AskedCatalogue | None]]()

    def __call__(self, cell: TrialCell) -> list[TrialRow]:
        """Return the single row of an cell. The system runs once for all metrics."""
        trial = (cell.protocol, cell.target, cell.seed, cell.lists)
        hidden, catalogue = self._trials.of(trial, lambda: self._trial(cell))
        queried = hidden.trial if catalogue is None else catalogue.trial
        began = time.perf_counter()
        predictions = cell.system.predict(queried, engine=self._engine, epsilon=cell.epsilon)
        seconds = time.perf_counter() - began
        metrics = _figures(cell.system, hidden, catalogue, predictions.predicted)
        return [_row(cell, hidden.trial, predictions.guarantee, metrics, seconds)]

    def _trial(self, cell: TrialCell) -> tuple[HeldOut, AskedCatalogue | None]:
        hidden = cell.protocol.hide(self._domains, cell.target, cell.seed)
        return hidden, AskedCatalogue.of(hidden.trial) if cell.lists else None


def _figures(
    system: System, hidden: HeldOut, catalogue: AskedCatalogue | None, predicted: Predicted
) -> dict[str, float | None]:
    """Return the metric columns, None for those that were not measured."""
    require_finite(predicted)
    metrics: dict[str, float | None] = dict.fromkeys(FIGURES)
    if not isinstance(system, ListBaseline | crossdomain.ItemLists):
        ratings = predicted if catalogue is None else catalogue.of_hidden(predicted)
        metrics |= score(hidden.values, ratings, hidden.trial.domains.ratings.scale)._asdict()
    if catalogue is None or system in crossdomain.CONSTANTS:  # a constant ranks no items
        return metrics
    return metrics | catalogue.figures(hidden, predicted)


def _row(
    cell: TrialCell,
    trial: Trial,
    claim: Guarantee,
    metrics: dict[str, float | None],
    seconds: float,
) -> TrialRow:
    system = cell.system
    parts = (system.budget(cell.epsilon) if isinstance(system, Parted) else None) or (
        None,
        None,
    )
    return TrialRow(
        model=system.name,
        variant=system.variant,
        mode=system.mode,
        epsilon=_number(claim.epsilon),
        replacement_epsilon=_number(parts[0]),
        neighbour_epsilon=_number(parts[1]),
        delta=float(claim.delta),
        unit=claim.unit,
        trust=claim.trust,
        claim_valid=None if claim.epsilon is None else claim.fails is None,
        promise=claim.sentence,
        source=" + ".join(name for d, name in enumerate(cell.names) if d != cell.target),
        target=cell.names[cell.target],
        test_share=cell.protocol.test_share,
        overlap=cell.protocol.overlap,
        keep=cell.protocol.keep,
        k=getattr(system, "k", None),
        damping=getattr(system, "damping", None),
        decay=getattr(system, "decay", None),
        seed=cell.seed,
        n_train=len(trial.domains.ratings),
        n_test=len(trial.users),
        people=len(trial.people),
        seconds=seconds,
        **metrics,
    )


def _number(epsilon: str | None) -> float | None:
    return None if epsilon is None else float(epsilon)
