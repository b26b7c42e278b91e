"""`tacit task --signing-key` writes a task that can be moved, and --successor moves it."""

import json

import pytest
from provider_keys import KEY, OTHER

from tacit.publishing.provider_key import ProviderKey
from tacit.wire.tasks.loading import loads

FILMS, NEXT = "https://films.example", "https://next.example"


@pytest.fixture
def first(run, tmp_path):
    """Write a task with a new key."""
    (tmp_path / "films.csv").write_text("item,title\n7,Alien\n9,Brazil\n")

    def written(*options):
        command = ("task", tmp_path / "films.csv", "--epsilon", "1", "--provider", FILMS)
        return run(*command, "-o", tmp_path / "task.json", *options)

    return written


@pytest.fixture
def move(run, tmp_path):
    def moved(successor, *options, key="films.pem", task="task.json"):
        command = ("task", "--extend", tmp_path / task, "--successor", successor, *options)
        signing = () if key is None else ("--signing-key", tmp_path / key)
        return run(*command, *signing, "-o", tmp_path / "moved.json")

    return moved


def read(path):
    return loads(path.read_bytes())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", [(), ("--plan", "sample:1", "--extendable", "9")])
def test_a_task_is_moved_with_its_key(first, move, run, tmp_path, plan):
    status, _, said = first("--signing-key", tmp_path / "films.pem", *plan)
    assert status == 0
    assert "a new signing key. Keep it off the server" in said
    assert (tmp_path / "films.pem").stat().st_mode & 0o777 == 0o600
    task = read(tmp_path / "task.json")
    assert task.provider_key == ProviderKey.load(tmp_path / "films.pem").public
    assert (tmp_path / "task.json").read_text().count("PRIVATE") == 0
    status, _, said = move(NEXT)
    moved = read(tmp_path / "moved.json")
    assert (status, moved.origins, moved.items) == (0, (FILMS, NEXT), task.items)
    assert f"from {FILMS} to {NEXT}. Serve it at both. Address {moved.address}" in said
    (tmp_path / "more.csv").write_text("item,title\n8,Cure\n")
    more = ("task", tmp_path / "more.csv", "--extend", tmp_path / "moved.json")
    assert run(*more, "-o", tmp_path / "more.json")[0] == 0
    assert move("https://last.example", task="more.json")[0] == 0
    assert read(tmp_path / "moved.json").origins == (FILMS, NEXT, "https://last.example")


def test_a_key_is_for_all_tasks_of_a_provider(first, tmp_path):
    key = ("--signing-key", tmp_path / "films.pem")
    assert first(*key)[0] == 0
    before = (tmp_path / "films.pem").read_bytes()
    assert "new signing key" not in first(*key, "--name", "Cinema")[2]
    assert (tmp_path / "films.pem").read_bytes() == before
    assert first()[0] == 0
    assert "provider_key" not in json.loads((tmp_path / "task.json").read_bytes())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("successor", "options", "given", "message"),
    [
        (NEXT, (), {"key": None}, "--successor requires --signing-key"),
        (NEXT, (), {"key": "other.pem"}, "contains another key"),
        (NEXT, (), {"key": "none.pem"}, "none.pem does not exist; name the key file"),
        (NEXT, (), {"key": "films.csv"}, "is not a signing key"),
        (NEXT, (), {"task": "bare.json"}, "contains no key"),
        (NEXT, ("--epsilon", "2"), {}, "--epsilon has no effect with --successor"),
        (NEXT, ("--open-after", "2"), {}, "--open-after has no effect with --successor"),
        (NEXT, ("films.csv",), {}, "The catalogue has no effect with --successor"),
        (FILMS, (), {}, "a move must be to another origin than the present one"),
        ("http://next.example", (), {}, "--successor must be https://host"),
        ("https://next.example/", (), {}, "--successor must be https://host"),
    ],
)
def test_what_moves_no_task_is_refused(first, move, tmp_path, successor, options, given, message):
    assert first()[0] == 0
    (tmp_path / "task.json").rename(tmp_path / "bare.json")
    KEY.save(tmp_path / "films.pem")
    assert first("--signing-key", tmp_path / "films.pem")[0] == 0
    OTHER.save(tmp_path / "other.pem")
    status, _, errors = move(successor, *options, **given)
    assert status == 1
    assert message in " ".join(errors.split())
    assert not (tmp_path / "moved.json").exists()
    assert not (tmp_path / "none.pem").exists()


def test_a_first_task_requires_a_catalogue(run, tmp_path):
    status, _, errors = run("task", "--epsilon", "1", "-o", tmp_path / "task.json")
    assert status == 2
    assert "the catalogue is required" in " ".join(errors.replace("│", " ").split())


def test_the_label_states_that_and_where_the_provider_moves(first, move, run, tmp_path):
    KEY.save(tmp_path / "films.pem")
    assert first("--signing-key", tmp_path / "films.pem")[0] == 0
    assert move(NEXT)[0] == 0
    texts = []
    for name in ("task.json", "moved.json"):
        assert run("label", tmp_path / name, "-o", tmp_path / "label.html")[0] == 0
        texts.append(json.loads((tmp_path / "label.json").read_text())["leaves"])
    for text in texts:
        assert "A device sends nothing there before its user agrees" in text
    assert ["It moved from" in text for text in texts] == [False, True]
    assert f"It moved from {FILMS} to {NEXT}." in texts[1]
