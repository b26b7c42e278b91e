"""A file that no process survives decoding ends a sentence, and nothing else."""

import os

import polars as pl
import pytest
from damaged_files import case

from tacit.errors import DataError
from tacit.readers.frame import ARROW, PARQUET, decodable

ABORTS = 15_994
"""The damaged file of which a page asks for 2 EiB."""
PANICS = 6002
"""The damaged Arrow file of which a batch ends beyond the file."""


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "sound.parquet"
    pl.DataFrame({"user": [1, 2]}).write_parquet(path)
    return path


def refused(path):
    path.write_bytes(case("parquet", ABORTS)[1])
    for stored in (path, path.read_bytes()):
        with pytest.raises(DataError, match=r"x\.parquet is damaged: decoding it loses rows"):
            decodable(stored, PARQUET, "x.parquet")


def test_the_next_file_is_read_again(sound, tmp_path):
    for _ in range(2):
        refused(tmp_path / "x.parquet")
        assert decodable(sound, PARQUET, sound).collect()["user"].to_list() == [1, 2]


def test_a_file_in_memory_is_read(sound):
    for _ in range(2):  # the second finds the stream where the first left it
        assert decodable(sound.read_bytes(), PARQUET, sound).collect().height == 2


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_a_worker_of_its_own(sound, tmp_path):
    decodable(sound, PARQUET, sound)
    child = os.fork()
    if child == 0:
        refused(tmp_path / "x.parquet")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert decodable(sound, PARQUET, sound).collect().height == 2


def test_rows_that_a_panic_leaves_out_are_missed_and_nothing_is_printed(tmp_path, capfd):
    path = tmp_path / "x.arrow"
    path.write_bytes(case("arrow", PANICS)[1])
    with pytest.raises(DataError, match="decoding it loses rows"):
        decodable(path, ARROW, path)
    assert capfd.readouterr().err == ""
