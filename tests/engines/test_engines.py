"""Engines: the same results in the same order, to the last digit, wherever a kernel runs."""

import os
import subprocess
import sys
from itertools import product

import block_kernels as kernels
import numpy as np
import pytest
from block_kernels import Matrix, Scale

from tacit.engines.block_codec import pack, unpack
from tacit.engines.engine import Engine, cut
from tacit.engines.spark import Spark
from tacit.engines.spark_session import session
from tacit.errors import DataError, RequestError

SHARED = Scale(0.1, np.array([1.0, -2.0, 1e-300]))


def blocks(n: int, pieces: int) -> list[Matrix]:
    rows = np.random.default_rng(n).normal(size=(n, 3))
    return [Matrix(np.asfortranarray(rows[part])) for part in cut(n, pieces)]


def test_a_kernel_over_blocks(engine: Engine):
    given = blocks(11, engine.blocks)
    results = engine.over(kernels.scaled, given, SHARED)
    assert len(results) == engine.blocks
    for block, result in zip(given, results, strict=True):
        assert type(result) is kernels.Product
        assert result.cells.tobytes() == (block.rows * 0.1 + SHARED.shift).tobytes()
        assert result.count == block.rows.size
        assert result.shift[0].tobytes() == SHARED.shift.tobytes()
        assert result.shift[1] == "over"


def test_a_kernel_across_blocks(engine: Engine):
    """More columns than rows, of another size, so that a swap or a transposition shows."""
    rows, columns = blocks(11, engine.blocks), blocks(13, engine.blocks + 1)
    results = engine.across(kernels.products, rows, columns, SHARED)
    assert [len(row) for row in results] == [len(columns)] * len(rows)
    for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
        expected = row.rows @ column.rows.T * 0.1
        assert results[i][j].cells.shape == expected.shape
        assert results[i][j].cells.tobytes() == expected.tobytes()
        assert results[i][j].shift == (pytest.approx(np.zeros(0)), "across")


def test_empty_blocks_and_none(engine: Engine):
    (result,) = engine.over(kernels.scaled, [Matrix(np.zeros((0, 3)))], SHARED)
    assert result.cells.shape == (0, 3)
    assert engine.over(kernels.scaled, [], SHARED) == []
    assert engine.across(kernels.products, blocks(2, 2), [], SHARED) == [[], []]
    assert engine.across(kernels.products, [], blocks(2, 2), SHARED) == []


def test_what_a_kernel_raises_on_purpose_arrives_as_it_was(engine: Engine):
    given = [Matrix(np.full((1, 3), float(value))) for value in (1, 9, 2, 7)]
    with pytest.raises(RequestError) as refused:
        engine.over(kernels.refuses, given, SHARED)
    assert str(refused.value) == "9 is above 5; give less."
    with pytest.raises(DataError) as wrong:
        engine.across(kernels.distrusts, given[1:], given, SHARED)
    assert str(wrong.value) == "Row 9 holds nothing."


def test_a_kernel_may_write_to_its_block(engine: Engine):
    (result,) = engine.over(kernels.writes, [Matrix(np.ones((2, 3)))], SHARED)
    assert (result.rows == -1).all()


@pytest.mark.spark
def test_workers_are_other_processes_with_a_thread_each(spark: Spark):
    places = spark.over(kernels.where, blocks(40, 8), SHARED)
    processes = {place.process for place in places}
    assert os.getpid() not in processes
    assert len(processes) == 2
    assert {place.threads for place in places} == {1}


@pytest.mark.spark
def test_megabytes_that_all_blocks_share_and_blocks_of_several(spark: Spark):
    """Spark splits a broadcast every four mebibytes, and a block outgrows what a page holds."""
    shared = Scale(2.0, np.random.default_rng(0).normal(size=800_000))
    given = [Matrix(np.random.default_rng(k).normal(size=(2, 800_000))) for k in range(3)]
    for block, result in zip(given, spark.over(kernels.scaled, given, shared), strict=True):
        assert result.cells.tobytes() == (block.rows * 2.0 + shared.shift).tobytes()


@pytest.mark.spark
def test_a_block_too_large_for_a_row(spark: Spark, monkeypatch):
    monkeypatch.setattr("tacit.engines.spark.LARGEST", 1000)
    with pytest.raises(RequestError, match=r"fit a row of Spark's, 1,000; ask for more blocks"):
        spark.over(kernels.scaled, blocks(100, 1), SHARED)


@pytest.mark.spark
def test_a_result_that_cannot_travel(spark: Spark):
    with pytest.raises(RequestError, match="an array of object; give one of numbers"):
        spark.over(kernels.objects, blocks(3, 1), SHARED)


@pytest.mark.spark
def test_a_second_master_is_refused_and_a_running_session_is_left(spark: Spark):
    spark.over(kernels.scaled, blocks(2, 1), SHARED)
    with pytest.raises(RequestError, match=r"already runs here for local\[2\]"):
        Spark("local[1]").over(kernels.scaled, blocks(2, 1), SHARED)
    with Spark("local[2]") as other:
        other.over(kernels.scaled, blocks(2, 1), SHARED)
    assert len(spark.over(kernels.scaled, blocks(2, 2), SHARED)) == 2


def local_kernel():
    def kernel(block, shared):
        return block

    return kernel


@pytest.mark.parametrize("kernel", [lambda block, shared: block, local_kernel()])
def test_a_kernel_without_a_name_is_refused_before_anything_starts(kernel):
    with pytest.raises(RequestError, match=r"(<lambda>|<locals>\.kernel) of .*at the top of a mod"):
        Spark("nowhere").over(kernel, blocks(2, 2), SHARED)


def test_no_blocks_are_refused():
    with pytest.raises(RequestError, match="0 blocks hold nothing"):
        Spark(blocks=0)


def test_packing_keeps_every_bit_and_the_order_in_memory():
    rows = np.random.default_rng(2).normal(size=(3, 4))
    one = kernels.Product(np.asfortranarray(rows), 2, (rows[:, ::2], "héllo"))
    odd = Scale(float("nan"), np.array([np.inf, -0.0, np.nextafter(1, 2)]))
    again = unpack(pack(one))
    assert again.cells.tobytes("A") == one.cells.tobytes("A")
    assert again.cells.flags.f_contiguous
    assert not again.cells.flags.c_contiguous
    assert again.cells.flags.aligned
    assert (again.shift[0] == rows[:, ::2]).all()
    assert again.shift[1] == "héllo"
    assert np.isnan(unpack(pack(odd)).by)
    assert unpack(pack(odd)).shift.tobytes() == odd.shift.tobytes()
    for kind in "?bBhHiIqQfd":
        array = np.array([0, 1, 1], kind)
        assert unpack(pack((array,)))[0].dtype == array.dtype
    third = np.float32(1) / np.float32(3)
    assert unpack(pack((None, True, 1 << 70, third, 0.1)))[2:] == (1 << 70, float(third), 0.1)


@pytest.mark.parametrize("held", [[1], {"a": 1}, np.array(["a"]), np.array([None]), object()])
def test_what_is_no_number_is_not_packed(held):
    with pytest.raises(RequestError, match="A block holds"):
        pack((held,))


def test_a_missing_java_is_a_sentence(monkeypatch, tmp_path):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(RequestError, match=r"JAVA_HOME is not set, and no java is on the path; in"):
        Spark().over(kernels.scaled, blocks(2, 2), SHARED)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jre"))
    with pytest.raises(RequestError, match=r"JAVA_HOME=.*jre holds no bin/java"):
        Spark().over(kernels.scaled, blocks(2, 2), SHARED)


def test_a_missing_pyspark_is_a_sentence(monkeypatch):
    monkeypatch.setattr("tacit.engines.spark_session.find_spec", lambda name: None)
    with pytest.raises(RequestError, match=r"pip install 'tacit\[spark\]'"), session("local[1]"):
        pass


@pytest.mark.parametrize("master", ["nowhere", "local[two]", "spark://", ""])
def test_a_master_that_is_none_is_a_sentence(master):
    pytest.importorskip("pyspark")
    with pytest.raises(RequestError, match="is no master of Spark's; give local"):
        Spark(master).over(kernels.scaled, blocks(2, 2), SHARED)


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
    assert ran.stdout.startswith("Spark does not start for the master local[1], which needs Java ")
    assert ran.stdout.count("\n") == 1
    assert "Traceback" not in ran.stderr
