"""Choosing epsilon on public or synthetic data: what is compared, and its trade-off as result."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tacit.collection.named_plans import IDENTITY
from tacit.errors import RequestError
from tacit.experiments.comparison.comparison import Comparison
from tacit.experiments.experiment import AnyCell, Experiment
from tacit.learners.learner import Learner
from tacit.metrics.split import SplitProtocol
from tacit.reporting.page import Provenance
from tacit.results.choice.report import Criteria, as_text, report
from tacit.results.choice.tradeoff import MEAN, WITHOUT_NOISE, Tradeoff
from tacit.results.records import AnyRow


def trial(
    known: Learner, channel: str, epsilons: Sequence[str], protocol: SplitProtocol
) -> Comparison:
    """Return the comparison of a model or a trainer with its form without privacy and the mean.

    Raises `RequestError` for a single epsilon, and for a trainer's epsilon of 999 or more.
    """
    require_several(epsilons)
    if not known.is_trainer:
        return Comparison(
            channels=(channel,), models=(MEAN, known.name), epsilons=epsilons, protocol=protocol
        )
    most = max(epsilons, key=float)
    if float(most) >= float(WITHOUT_NOISE):
        raise RequestError(
            f"Epsilons of a trainer must be below {WITHOUT_NOISE}, which stands for no privacy, "
            f"got {most}."
        )
    return Comparison(
        channels=(IDENTITY,),
        models=(MEAN, known.name),
        epsilons=(*epsilons, WITHOUT_NOISE),
        protocol=protocol,
    )


def require_several(epsilons: Sequence[str]) -> None:
    """Raise `RequestError` for a single epsilon, in nats, before anything is fitted."""
    if len(epsilons) < 2:
        raise RequestError(
            f"A trade-off requires at least two epsilons, as in 0.5,1,3, got {epsilons[0]}."
        )


def choosing(
    experiment: Experiment[AnyCell, AnyRow],
    tradeoff: Callable[[Sequence[AnyRow]], Tradeoff],
    criteria: Criteria,
    run: Provenance,
) -> Experiment[AnyCell, AnyRow]:
    """Return the experiment with the trade-off of its rows as its tables and its page.

    Nothing is printed for the rows of an interrupted run, which are not a trade-off.
    """

    def tables(rows: Sequence[AnyRow]) -> str:
        complete = len(rows) >= len(experiment.cells)
        return as_text(tradeoff(rows), criteria) if complete else ""

    def page(rows: Sequence[AnyRow]) -> str:
        return report(tradeoff(rows), criteria, run)

    return replace(
        experiment,
        title="choosing",
        text=tables,
        page=page,
    )
