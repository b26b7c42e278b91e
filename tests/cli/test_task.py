"""`tacit task` says who asks, and `tacit serve` asks where it serves."""

import pytest

from tacit.cli.collecting.serve import _task, _url
from tacit.collection.named_plans import PRESETS
from tacit.errors import RequestError
from tacit.wire.tasks.loading import loads


@pytest.fixture
def films(tmp_path):
    (tmp_path / "films.csv").write_text("item,title\n7,Alien\n9,Brazil\n")
    return ("task", tmp_path / "films.csv", "--epsilon", "1", "-o", tmp_path / "task.json")


def test_a_task_names_its_provider(films, run, tmp_path):
    status, _, said = run(*films, "--provider", "https://films.example:8443")
    task = loads((tmp_path / "task.json").read_bytes())
    assert (status, task.format, task.provider) == (0, "tacit-task-2", "https://films.example:8443")
    assert task.address in said
    assert (task.items, task.titles) == ((7, 9), ("Alien", "Brazil"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), "--provider is required: the collector's origin"),
        (("--provider", "HTTPS://Films.example/films/"), "Write --provider https://films.example."),
        (("--provider", "films.example"), "Write --provider https://films.example."),
    ],
)
def test_who_asks_has_to_be_said_and_how_is_told(films, run, tmp_path, given, told):
    status, _, said = run(*films, *given)
    assert status == 1
    assert told in " ".join(said.split())
    assert not (tmp_path / "task.json").exists()


def test_a_task_may_ask_who_did_what(films, run, tmp_path):
    asked = (*films, "--provider", "https://films.example", "--scale", "there")
    status, _, said = run(*asked)
    assert status == 1
    assert "For implicit feedback, only presence can be protected" in said
    assert not (tmp_path / "task.json").exists()
    for plan in ("catalogue", "sample:1"):
        assert run(*asked, "--plan", plan)[0] == 0
        task = loads((tmp_path / "task.json").read_bytes())
        assert (str(task.scale), task.plan, task.name) == ("there", plan, "Interactions")
        assert task.channels[0].outputs == (None, 1)
        (tmp_path / "task.json").unlink()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("localhost", "http://localhost:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
        ("0:0::1", "http://[::1]:8000"),
        ("Films.example", "http://films.example:8000"),
    ],
)
def test_what_is_served_is_asked_by_where_it_is_served(host, url):
    assert _url(host, 8000) == url


def test_a_folder_is_served_where_its_question_is_asked(tmp_path):
    task = _task(tmp_path, "http://127.0.0.1:8000")
    assert _task(tmp_path, "http://127.0.0.1:8000") == task
    with pytest.raises(RequestError, match="serve at that address, or choose another"):
        _task(tmp_path, "http://127.0.0.1:9000")
    (tmp_path / "task.json").write_bytes(task.predecessor.document)
    assert _task(tmp_path, "http://127.0.0.1:9000") == task.predecessor


def test_a_preset_names_plan_and_epsilon(films, run, tmp_path):
    bare = (*films[:2], *films[4:], "--provider", "https://films.example")
    assert run(*bare, "--preset", "hard-to-link")[0] == 0
    task = loads((tmp_path / "task.json").read_bytes())
    assert task.plan == PRESETS["hard-to-link"].plan == "sample:200"
    assert [each.epsilon for each in task.channels] == [PRESETS["hard-to-link"].epsilon] == ["2"]
    for wrong, told in (
        (("--preset", "hard-to-lnk"), "preset must be one of hard-to"),
        (("--preset", "hard-to-link", "--plan", "rated"), "leave out --plan and --epsilon"),
        ((), "--epsilon or --preset is required"),
    ):
        status, _, said = run(*bare, *wrong)
        assert status != 0
        assert told in " ".join(said.replace("│", " ").split())


@pytest.fixture
def extend(films, run, tmp_path):
    """Write a task of two films, and extend it by a catalogue."""
    assert run(*films, "--provider", "https://films.example")[0] == 0

    def extended(text, *options):
        (tmp_path / "more.csv").write_text(text)
        more = ("task", tmp_path / "more.csv", "--extend", tmp_path / "task.json")
        return run(*more, "-o", tmp_path / "more.json", *options)

    return extended


def test_a_task_is_extended_by_the_items_that_it_does_not_have(extend, run, tmp_path):
    status, _, message = extend("item,title\n8,Cure\n7,Alien 3\n6,Diva\n")
    first = loads((tmp_path / "task.json").read_bytes())
    task = loads((tmp_path / "more.json").read_bytes())
    assert status == 0
    assert f"2 new items, 4 in all. Address {task.address}" in message
    assert task == first.extended([8, 6], ["Cure", "Diva"])
    again = ("task", tmp_path / "more.csv", "--extend", tmp_path / "more.json")
    status, _, message = run(*again, "-o", tmp_path / "third.json")
    assert status == 1
    assert "has no item that the task does not have" in message


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("item\n8\n", (), "1 of 1 new items have no title"),
        ("item,title\nx,Cure\n", (), "all numbers or all strings"),
        ("item,title\n8,Cure\n", ("--epsilon", "2"), "--epsilon cannot be changed by --extend"),
        ("item,title\n8,Cure\n", ("--plan", "catalogue"), "--plan cannot be changed by --extend"),
        ("user,item,rating\n1,8,5\n", (), "contains ratings"),
    ],
)
def test_what_does_not_extend_a_task_is_refused(extend, tmp_path, text, options, message):
    status, _, errors = extend(text, *options)
    assert status == 1
    assert message in errors
    assert not (tmp_path / "more.json").exists()


SLOTS = ("--plan", "sample:1", "--provider", "https://films.example")


def test_a_task_over_slots_is_extended(films, run, tmp_path):
    """The limit is mean + 4 deviations of the slots among 100 items, of which half are queried."""
    days = ("--renew", "7,100", "--epoch", "604800")
    status, _, message = run(*films, *SLOTS, "--extendable", "100", *days)
    assert status == 0
    assert "plan sample:1, at most 70 slots per user" in message
    first = loads((tmp_path / "task.json").read_bytes())
    assert (first.growth.limit, first.growth.renewals) == (50 + 4 * 5, (1, 15))
    (tmp_path / "more.csv").write_text("item,title\n8,Cure\n")
    more = ("task", tmp_path / "more.csv", "--extend", tmp_path / "task.json")
    assert run(*more, "-o", tmp_path / "next.json")[0] == 0
    block = loads((tmp_path / "next.json").read_bytes()).growth.blocks[1]
    assert (block.open_from, block.threshold) == (5, 1 << 63)
    assert run(*more, "--open-after", "0", "-o", tmp_path / "now.json")[0] == 0
    assert loads((tmp_path / "now.json").read_bytes()).growth.blocks[1].open_from == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--extendable", "100"), "has an effect under a plan over slots only"),
        ((*SLOTS, "--renew", "7"), "--renew has an effect with --extendable only"),
        ((*SLOTS, "--extendable", "1"), "must be at least the 2 items of the catalogue, got 1"),
        ((*SLOTS, "--extendable", "9", "--renew", "x"), "not a comma-separated list of numbers"),
        ((*SLOTS, "--extendable", "9", "--renew", "9,8"), "in ascending order"),
        ((*SLOTS, "--extendable", "9000"), "at most 4096 cells"),
        ((*SLOTS, "--open-after", "7"), "--open-after has an effect with --extend only"),
    ],
)
def test_terms_of_extensions_without_an_effect_are_refused(films, run, options, message):
    plain = () if SLOTS[0] in options else ("--provider", "https://films.example")
    status, _, errors = run(*films, *plain, *options)
    assert status == 1
    assert message in errors


def test_open_after_is_refused_under_the_plan_rated(extend):
    status, _, errors = extend("item,title\n8,Cure\n", "--open-after", "7")
    assert status == 1
    assert "--open-after has an effect under a plan over slots only" in errors
