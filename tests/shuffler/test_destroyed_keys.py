"""Destruction of a private key: only that of the task whose batch was opened."""

import numpy as np
import pytest
from shuffled_tasks import item_task

from tacit.collection.shuffled.counts import BucketCounts
from tacit.errors import RequestError
from tacit.shuffler.task_key import TaskKey, destroy

KEY = TaskKey.generate()
TASK = item_task(key=KEY.public)


@pytest.fixture
def count(run, tmp_path):
    """Runs the command with a key file. Returns its status and notice."""
    (tmp_path / "films.json").write_bytes(TASK.document)
    (tmp_path / "batch").write_bytes(b"")

    def counted(key):
        where = ("--batch", tmp_path / "batch", "-o", tmp_path / "counts.json")
        status, _, notice = run("shuffled", "count", tmp_path / "films.json", "--key", key, *where)
        return status, " ".join(notice.split())

    return counted


@pytest.fixture(params=[False, True], ids=["not-counted", "counted"])
def counts(request, tmp_path):
    """The counts of the task, which are on disk before the command or not."""
    if request.param:
        counts = BucketCounts(TASK, TASK.certificate.bundles, np.ones(TASK.round.buckets, np.int64))
        (tmp_path / "counts.json").write_bytes(counts.document)


@pytest.fixture(params=["key", "text", "bytes"])
def other(request, tmp_path):
    """A file that is not the key of the task."""
    path = tmp_path / "other"
    if request.param == "key":
        TaskKey.generate().save(path)
    else:
        path.write_bytes(b"precious" if request.param == "text" else b"\xff" * 65)
    return path


@pytest.mark.usefixtures("counts")
def test_another_file_is_not_destroyed(count, other):
    before = other.read_bytes()
    status, notice = count(other)
    assert (status, "is not the key of this task; nothing was destroyed" in notice) == (1, True)
    assert other.read_bytes() == before
    with pytest.raises(RequestError, match="nothing was destroyed"):
        destroy(other, TASK.key)
    assert other.read_bytes() == before


@pytest.mark.parametrize("counts", [True], indirect=True)
@pytest.mark.parametrize("is_overwritten", [False, True])
@pytest.mark.usefixtures("counts")
def test_the_key_is_destroyed_also_after_a_crash_in_between(count, tmp_path, is_overwritten):
    key = tmp_path / "key"
    KEY.save(key)
    if is_overwritten:
        key.write_bytes(bytes(key.stat().st_size))
    assert count(key)[0] == 0
    assert not key.exists()
