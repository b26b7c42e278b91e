"""Spark in this process: use a running session or start one, and restore the previous state."""

import atexit
import gc
import logging
import os
import re
import shutil
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = Path(__file__).with_name("spark-log.properties")
MASTER = re.compile(r"local(-cluster)?(\[[\d*, ]+\])?|yarn|(spark|k8s)://.+")
LOST = re.compile(r"worker exited unexpectedly|ExecutorLostFailure")
STACK = "-Xss16m"
"""Java thread stack. The plan of a loop in Spark's library is as deep as its rounds, and serialized
recursively. If the stack overflows, Spark waits indefinitely."""
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@contextmanager
def session(master: str, memory: str = "4g") -> Generator["SparkSession"]:
    """Open a Spark session of `master` with separate settings; stop it if it was started here.

    `master`: in Spark's notation ("local[2]", "spark://host:7077"). `memory`: of the driver, which
    is the only process if the master is local. A session that already runs in this process is used
    and left running. Raises `RequestError` if PySpark or Java is missing, `master` is invalid,
    Spark does not start, or it already runs for another master.
    """
    if not MASTER.fullmatch(master):
        raise RequestError(
            f"master must be a Spark master such as local[2] or spark://host:7077, got '{master}'."
        )
    _pyspark()
    from pyspark.sql import SparkSession

    logging.getLogger().addFilter(_of_no_gateway)
    level = _hush(logging.CRITICAL + 1)
    running = SparkSession.getActiveSession()
    spark = running or _started(master, _settings(master, memory) | _socket_settings(master))
    try:
        if spark.sparkContext.master != master:
            raise RequestError(
                "Spark already runs in this process with the master "
                f"{spark.sparkContext.master}; use that master, or stop the session "
                f"before you use {master}."
            )
        yield _separate_session(spark)
    finally:
        if running is None:
            with quiet():
                spark.stop()
            logging.getLogger().removeFilter(_of_no_gateway)
            _hush(level)


def _socket_settings(master: str) -> dict[str, str]:
    """Return settings for Unix sockets between Spark and the workers of this machine.

    Spark writes a task in two parts. Over TCP the second one waits for the delayed acknowledgement
    of the first, 40 ms per task, which is longer than a small task. PySpark before 4.1 ignores
    these settings.
    """
    if not (master.startswith("local") and hasattr(socket, "AF_UNIX")):
        return {}
    option = "spark.python.unix.domain.socket"
    return {f"{option}.enabled": "true", f"{option}.dir": _socket_folder()}


@cache
def _socket_folder() -> str:
    """Return a folder of this user alone, because reports pass through the sockets in it.

    It exists until the process ends: a later session in the same Java process has the settings of
    the first one by default. Its path is short, because the system limits that of a socket.
    """
    folder = mkdtemp(prefix="tacit-", dir="/tmp")
    atexit.register(_remove_in, os.getpid(), folder)
    return folder


def _remove_in(process: int, folder: str) -> None:
    """Remove `folder`, but not in a fork of `process`, which Spark does not belong to."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def set_up_worker() -> None:
    """Set up the process of a worker, at the end of its first task.

    PySpark collects garbage after every task. Over all objects of the imported modules this takes
    longer than a small task, so they are exempted.

    Spark closes the connection to a worker that was idle for a minute. PySpark writes this error to
    the closed connection and prints a traceback when that fails. With the default action of the
    signal, the worker ends at the write.
    """
    gc.freeze()
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _of_no_gateway(record: logging.LogRecord) -> bool:
    """Filter Py4J's messages about interrupts to the root logger; it raises them as well."""
    return record.module != "java_gateway"


def _hush(level: int) -> int:
    """Set the level of Py4J's loggers. Returns the previous level."""
    logger = logging.getLogger("py4j")
    before = logger.level
    logger.setLevel(level)
    return before


@contextmanager
def quiet() -> Generator[None]:
    """Suppress warnings about pandas, which is not used here, and about stops after interrupts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        warnings.filterwarnings("ignore", "Unable to cleanly shutdown", RuntimeWarning)
        yield


@contextmanager
def losing_nobody(master: str) -> Generator[None]:
    """Raise `RequestError` if workers died more often than Spark retries a block."""
    py4j: Any = import_module("py4j.protocol")
    try:
        yield
    except py4j.Py4JJavaError as error:
        if not LOST.search(str(error)):
            raise
        raise RequestError(
            f"A worker of {master} died repeatedly on its block, so Spark aborted the job. Run the "
            "same command again (a fit with a state folder resumes). On one machine, allow Spark "
            "four attempts, as in local[2,4]."
        ) from None


def _pyspark() -> None:
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise RequestError(
            "Spark requires PySpark and PyArrow. Run pip install 'tacit-recommender[spark]'."
        )


def _java() -> None:
    """Check for Java where Spark looks for it: in JAVA_HOME if set, else on the path."""
    home = os.environ.get("JAVA_HOME")
    if home and not shutil.which("java", path=Path(home) / "bin"):
        raise RequestError(
            f"Spark requires Java, and JAVA_HOME={home} contains no bin/java; set JAVA_HOME to "
            "Java 17 or later, or unset it if java is on the path."
        )
    if not home and not shutil.which("java"):
        raise RequestError(
            "Spark requires Java, and none was found: JAVA_HOME is not set, and java is not on "
            "the path. Install version 17 or later (Debian: apt-get install "
            "default-jre-headless)."
        )


def _started(master: str, settings: dict[str, str]) -> "SparkSession":
    _java()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers use this Python
    py4j: Any = import_module("py4j.protocol")
    builder = SparkSession.Builder().master(master).appName("tacit")
    for key, setting in settings.items():
        builder = builder.config(key, setting)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        with quiet():
            return builder.getOrCreate()
    except (py4j.Py4JError, PySparkException) as error:
        reason = str(getattr(error, "java_exception", error)).splitlines()[0]
        raise RequestError(
            f"Spark cannot start with the master {master}, which requires Java 17 or later: "
            f"{reason}"
        ) from None
    finally:
        # PySpark's interrupt handler calls Java, possibly in the middle of another call.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)


def _settings(master: str, memory: str) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={LOG}" {STACK}',
        "spark.executor.extraJavaOptions": STACK,
        "spark.driver.memory": memory,
        "spark.driver.maxResultSize": "0",  # results of any size
        "spark.rpc.message.maxSize": "2047",  # MiB: a block is part of its task
        "spark.speculation": "false",  # noise is drawn once; see collection/spark.py
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(_folders()),
    }
    # A Python worker is one Spark core; additional threads would take another worker's core.
    settings |= {f"spark.executorEnv.{name}": "1" for name in THREADS}
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def _folders() -> list[str]:
    """Return the module search path beyond the standard library, for the workers."""
    standard = (sys.prefix, sys.base_prefix)
    return [folder for folder in sys.path if folder and not folder.startswith(standard)]


def _separate_session(spark: "SparkSession") -> "SparkSession":
    fresh = spark.newSession()
    settings = {
        "spark.sql.execution.arrow.localRelationThreshold": "0b",  # one partition per Arrow batch
        "spark.sql.adaptive.enabled": "false",  # do not merge partitions by size
    }
    for key, setting in settings.items():
        fresh.conf.set(key, setting)
    return fresh
