"""Engines: the same results in the same order, to the last digit, wherever a kernel runs."""

import os
import subprocess
import sys
from pathlib import Path

import block_kernels as kernels
import numpy as np
import pytest

from tacit.engines.engine import Engine
from tacit.engines.processes import Processes
from tacit.engines.spark import Spark, pack, unpack
from tacit.engines.spark_session import session
from tacit.errors import RequestError
from tacit.testing import ENGINE_CLAIMS
from tacit.testing.engines import SHARED, MatrixRows, Product, Scale, matrices, scaled

IDLE = Path(__file__).parents[1] / "importable" / "idle_workers.py"


@pytest.mark.parametrize("claim", ENGINE_CLAIMS, ids=lambda claim: claim.__name__)
def test_the_claims_about_an_engine(claim, engine: Engine):
    claim(engine)


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as engine:
        yield engine


@pytest.mark.long
@pytest.mark.parametrize("claim", ENGINE_CLAIMS, ids=lambda claim: claim.__name__)
def test_the_claims_about_processes(claim, processes):
    claim(processes)


@pytest.mark.long
def test_a_process_that_ends_is_an_error_and_the_next_stage_starts_another(processes):
    with pytest.raises(RequestError, match="worker process ended unexpectedly"):
        processes.over(kernels.ends, matrices(4, 2), SHARED)
    places = processes.over(kernels.where, matrices(4, 2), SHARED)
    assert os.getpid() not in {place.process for place in places}


@pytest.mark.spark
def test_workers_are_other_processes_with_a_thread_each(spark: Spark):
    places = spark.over(kernels.where, matrices(40, 8), SHARED)
    processes = {place.process for place in places}
    assert os.getpid() not in processes
    assert len(processes) == 2
    assert {place.threads for place in places} == {1}


@pytest.mark.spark
def test_imports_of_a_worker_are_collected_after_its_first_task_at_most(spark: Spark):
    """PySpark collects garbage after every task."""
    spark.over(kernels.where, matrices(40, 8), SHARED)
    places = spark.over(kernels.where, matrices(40, 8), SHARED)
    assert all(place.exempt > 10_000 for place in places)


@pytest.mark.spark
def test_megabytes_that_all_blocks_share_and_blocks_of_several(spark: Spark):
    """Spark splits a broadcast every four mebibytes, and a block outgrows what a page holds."""
    shared = Scale(2.0, np.random.default_rng(0).normal(size=800_000))
    given = [MatrixRows(np.random.default_rng(k).normal(size=(2, 800_000))) for k in range(3)]
    for block, result in zip(given, spark.over(scaled, given, shared), strict=True):
        assert result.cells.tobytes() == (block.rows * 2.0 + shared.shift).tobytes()


@pytest.mark.spark
def test_a_block_too_large_for_a_row(spark: Spark, monkeypatch):
    monkeypatch.setattr("tacit.engines.spark.LARGEST", 1000)
    with pytest.raises(RequestError, match=r"a Spark record can hold .1,000.; use more blocks"):
        spark.over(scaled, matrices(100, 1), SHARED)


@pytest.mark.spark
def test_a_result_that_cannot_travel(spark: Spark):
    with pytest.raises(RequestError, match="numeric or Boolean arrays, got object"):
        spark.over(kernels.objects, matrices(3, 1), SHARED)


@pytest.mark.spark
def test_a_second_master_is_refused_and_a_running_session_is_left(spark: Spark):
    spark.over(scaled, matrices(2, 1), SHARED)
    with pytest.raises(RequestError, match=r"already runs in this process .* local\[2\]"):
        Spark("local[1]").over(scaled, matrices(2, 1), SHARED)
    with Spark("local[2]") as other:
        other.over(scaled, matrices(2, 1), SHARED)
    assert len(spark.over(scaled, matrices(2, 2), SHARED)) == 2


def local_kernel():
    def kernel(block, shared):
        return block

    return kernel


@pytest.mark.parametrize("kernel", [lambda block, shared: block, local_kernel()])
def test_a_kernel_without_a_name_is_refused_before_anything_starts(kernel):
    with pytest.raises(RequestError, match=r"(<lambda>|<locals>\.kernel) of .*at the top level"):
        Spark("nowhere").over(kernel, matrices(2, 2), SHARED)


def test_no_blocks_are_refused():
    with pytest.raises(RequestError, match="blocks must be at least 1, got 0"):
        Spark(blocks=0)
    with pytest.raises(RequestError, match="workers must be an integer of at least 1, got 0"):
        Processes(0)


def test_packing_keeps_every_bit_and_the_order_in_memory():
    rows = np.random.default_rng(2).normal(size=(3, 4))
    one = Product(np.asfortranarray(rows), 2, (rows[:, ::2], "héllo"))
    odd = Scale(float("nan"), np.array([np.inf, -0.0, np.nextafter(1, 2)]))
    again = unpack(pack(one))
    assert again.cells.tobytes("A") == one.cells.tobytes("A")
    assert again.cells.flags.f_contiguous
    assert not again.cells.flags.c_contiguous
    assert again.cells.flags.aligned
    assert (again.inner[0] == rows[:, ::2]).all()
    assert again.inner[1] == "héllo"
    assert np.isnan(unpack(pack(odd)).by)
    assert unpack(pack(odd)).shift.tobytes() == odd.shift.tobytes()
    for kind in "?bBhHiIqQfd":
        array = np.array([0, 1, 1], kind)
        assert unpack(pack((array,)))[0].dtype == array.dtype
    third = np.float32(1) / np.float32(3)
    assert unpack(pack((None, True, 1 << 70, third, 0.1)))[2:] == (1 << 70, float(third), 0.1)


@pytest.mark.parametrize("held", [[1], {"a": 1}, np.array(["a"]), np.array([None]), object()])
def test_what_is_no_number_is_not_packed(held):
    with pytest.raises(RequestError, match="A block must contain"):
        pack((held,))


def test_a_missing_java_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(
        RequestError, match=r"JAVA_HOME is not set, and java is not on the path. In"
    ):
        Spark().over(scaled, matrices(2, 2), SHARED)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jre"))
    with pytest.raises(RequestError, match=r"JAVA_HOME=.*jre contains no bin/java"):
        Spark().over(scaled, matrices(2, 2), SHARED)


def test_a_missing_pyspark_is_a_sentence(monkeypatch):
    monkeypatch.setattr("tacit.engines.spark_session.find_spec", lambda name: None)
    with (
        pytest.raises(RequestError, match=r"pip install 'tacit-recommender\[spark\]'"),
        session("local[1]"),
    ):
        pass


@pytest.mark.sampled(3)
@pytest.mark.spark
@pytest.mark.parametrize("master", ["nowhere", "local[two]", "spark://", ""])
def test_a_master_that_is_none_is_a_sentence(master):
    with pytest.raises(RequestError, match="master must be a Spark master such as local"):
        Spark(master).over(scaled, matrices(2, 2), SHARED)


@pytest.mark.spark
def test_a_spark_that_does_not_start_is_a_sentence():
    """In a process of its own, whose Java has not started yet."""
    code = (
        "from tacit.engines.spark_session import session\n"
        "from tacit.errors import RequestError\n"
        "try:\n    session('local[1]', memory='much').__enter__()\n"
        "except RequestError as error:\n    print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.startswith(
        "Spark cannot start with the master local[1], which requires Java "
    )
    assert ran.stdout.count("\n") == 1
    assert "Traceback" not in ran.stderr


@pytest.mark.spark
def test_sockets_are_in_a_folder_of_this_user_alone():
    """Over TCP each task waits 40 ms for an acknowledgement.

    A later session of other code, in the same Java process, has the same settings by default.
    """
    code = (
        "import os\n"
        "from pyspark.sql import SparkSession\n"
        "from tacit.engines.spark_session import session\n"
        "with session('local[1]') as spark:\n"
        "    context = spark.sparkContext\n"
        "    context.parallelize([1], 1).map(abs).collect()\n"
        "    folder = context.getConf().get('spark.python.unix.domain.socket.dir')\n"
        "    print(folder, oct(os.stat(folder).st_mode), len(os.listdir(folder)) > 0)\n"
        "later = SparkSession.builder.master('local[1]').getOrCreate()\n"
        "print(later.sparkContext.parallelize([-2], 1).map(abs).collect())\n"
        "later.stop()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    folder, *rest = ran.stdout.split()
    assert rest == ["0o40700", "True", "[2]"], ran.stderr
    assert not Path(folder).exists()


@pytest.mark.spark
def test_idle_workers_end_silently(tmp_path):
    """Spark ends a worker that was idle for a minute, and PySpark fails to report that."""
    ran = subprocess.run([sys.executable, IDLE, tmp_path], capture_output=True, text=True)
    before, after = ran.stdout.split()
    assert int(before) >= 2, ran.stderr
    assert after == "0", ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_fork_leaves_the_sockets_of_its_parent():
    code = (
        "import os, sys\n"
        "from tacit.engines.spark_session import _socket_folder\n"
        "folder = _socket_folder()\n"
        "child = os.fork()\n"
        "if not child:\n    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "print(os.path.exists(folder), folder)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    exists, folder = ran.stdout.split()
    assert exists == "True", ran.stderr
    assert not Path(folder).exists()
