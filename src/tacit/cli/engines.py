"""Where work is done, as options say: in this process, or by Spark's workers."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.engines.engine import Engine


@contextmanager
def on_spark(master: str | None) -> "Generator[Engine | None]":
    """The engine of Spark's `master`, stopped at the end; None for this process."""
    if master is None:
        yield None
        return
    from tacit.engines.spark import Spark

    with Spark(master) as engine:
        yield engine


@contextmanager
def learning(
    model: str, engine: str, master: str | None, state: Path | None
) -> Generator[dict[str, Any]]:
    """The settings of a model of that name by which it learns there; none for this process.

    Without `state` Spark on this machine has a folder until the end. Raises `RequestError` for a
    model that learns in this process alone, and for a cluster without `state`.
    """
    asked = options.spark_master(engine, master)
    if asked is None and state is None:
        yield {}
        return
    from tacit.engines.spark import Spark
    from tacit.evaluation.comparison.tools import learns_elsewhere

    if not learns_elsewhere(model):
        raise RequestError(
            f"{model} is fitted in this process and in memory only; leave out --engine and --state."
        )
    if state is None and not str(asked).startswith("local["):
        raise RequestError(
            f"--state is required for the Spark cluster {asked}: name a folder that all workers "
            "can reach."
        )
    with ExitStack() as at_the_end:
        folder = state or Path(at_the_end.enter_context(TemporaryDirectory(prefix="tacit-")))
        spark = None if asked is None else at_the_end.enter_context(Spark(asked))
        yield {"engine": spark, "state": folder}
