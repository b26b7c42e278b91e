"""Compute engines of commands: this process, or Spark workers."""

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
    """Provide the Spark engine at `master` and stop it at the end. None: this process."""
    if master is None:
        yield None
        return
    from tacit.engines.spark import Spark

    with Spark(master) as engine:
        yield engine


@contextmanager
def counting(engine: str, master: str | None, processes: int) -> "Generator[Engine]":
    """Provide the engine that opens and counts a batch, and stop it at the end.

    Raises `RequestError` for several processes next to Spark.
    """
    url = options.spark_master(engine, master)
    if url is not None and processes != 1:
        raise RequestError("--processes requires --engine local; for Spark, use --master local[2].")
    from tacit.engines.engine import Local
    from tacit.engines.processes import Processes
    from tacit.engines.spark import Spark

    if url is None and processes == 1:
        yield Local()
        return
    with Processes(processes) if url is None else Spark(url) as chosen:
        yield chosen


@contextmanager
def learning(
    model: str, engine: str, master: str | None, state: Path | None
) -> Generator[dict[str, Any]]:
    """Provide the settings for fitting a model on an engine, empty without an engine.

    Without `state`, Spark on this machine uses a temporary folder. Raises `RequestError` for a
    model that cannot be fitted on an engine, and for a cluster without `state`.
    """
    url = options.spark_master(engine, master)
    if url is None and state is None:
        yield {}
        return
    from tacit.engines.spark import Spark
    from tacit.learners.learner import learner
    from tacit.learners.settings import having

    if not learner(model).supports_engine:
        raise RequestError(
            f"{model} does not support --engine and --state; leave out both options, or choose "
            f"from {', '.join(having('engine'))}."
        )
    if state is None and not str(url).startswith("local["):
        raise RequestError(
            f"--state is required for the Spark cluster {url}: name a folder that all workers "
            "can reach."
        )
    with ExitStack() as at_the_end:
        folder = state or Path(at_the_end.enter_context(TemporaryDirectory(prefix="tacit-")))
        spark = None if url is None else at_the_end.enter_context(Spark(url))
        yield {"engine": spark, "state": folder}
