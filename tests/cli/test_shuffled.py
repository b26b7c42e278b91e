"""`tacit shuffled`: the commands of a provider that collects shuffled messages."""

import pytest

from tacit.privacy.shuffled_messages import shuffled_epsilon
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled.task import loads


@pytest.fixture
def written(run, tmp_path):
    """Writes a task; returns status, notice and the path of the task."""
    (tmp_path / "films.csv").write_text("item\n" + "\n".join(map(str, range(100))))

    def write(*changes):
        usual = {
            "--provider": "https://films.example", "--shuffler": "https://shuffler.example",
            "--epsilon": "4", "--bundles": "5000", "--closes": "2998-05-01T12:00",
            "--messages": "10", "--key": str(tmp_path / "films.key"),
            "-o": str(tmp_path / "films.json"),
        } | dict(zip(changes[::2], changes[1::2], strict=True))  # fmt: skip
        options = [word for pair in usual.items() for word in pair]
        status, _, notice = run("shuffled", "task", tmp_path / "films.csv", *options)
        return status, " ".join(notice.split()), tmp_path / "films.json"

    return write


def test_a_task_announces_its_second_round_and_has_a_new_key(written, tmp_path):
    status, notice, path = written()
    task = loads(path.read_bytes())
    assert status == 0
    assert task.address in notice
    assert "Epsilon = 4 per user (profile replaced by any other one)" in notice
    assert "announces a task about pairs" in notice
    assert (task.provider, task.shuffler) == ("https://films.example", "https://shuffler.example")
    assert task.items == tuple(range(100))
    assert task.closes == 32_451_019_200
    assert task.key == TaskKey.load(tmp_path / "films.key").public
    claim = task.certificate
    assert (claim.replaced, claim.delta, claim.bundles) == ("4", "0.000002", 5_000)
    assert 20 <= claim.rounds[1].dummies <= 21
    bound = shuffled_epsilon(claim.rounds, devices=4_000, delta=2e-6)
    assert 3 < bound <= 4


def test_without_room_for_pairs_the_task_is_the_only_one(written):
    status, notice, path = written("--most-dummies", "1")
    assert status == 0
    assert "is the only one" in notice
    assert loads(path.read_bytes()).announced is None


def test_a_key_is_not_used_twice(written):
    _, _, path = written()
    before = path.read_bytes()
    status, notice, _ = written()
    assert (status, path.read_bytes()) == (1, before)
    assert "a key is for one task" in notice


@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [("--closes", "1999-05-01T12:00", "must be in the future"),
     ("--shuffler", "https://films.example", "different origins"),
     ("--delta", "0.1", "must be at most"), ("--honest", "2", "must be above 0 and at most 1"),
     ("--provider", "films", "not of the form https://host")],
)  # fmt: skip
def test_invalid_options_write_nothing(written, tmp_path, option, value, remedy):
    status, notice, path = written(option, value)
    assert status == 1
    assert remedy in notice
    assert not path.exists()
    assert not (tmp_path / "films.key").exists()
