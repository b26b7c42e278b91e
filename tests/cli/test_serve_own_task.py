"""`tacit serve` in a folder that has a task of its own: made-up people answer it, or it is said."""

from importlib import import_module

import pytest
from serving import served

from tacit.channels import compile_channel
from tacit.collector.storage.published_models import PublishedModels
from tacit.scale import RatingScale
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel

ONE = RatingScale.parse("there")
serve = import_module("tacit.cli.collecting.serve")


@pytest.fixture
def populated(tmp_path, monkeypatch, capsys):
    """Serves a task and lets 30 made-up people answer; the model's bytes and what was said."""
    monkeypatch.setattr(serve, "PEOPLE", 30)
    monkeypatch.setattr(serve.signal, "signal", lambda *given: None)  # this process is not its own

    def played(task):
        (tmp_path / "task.json").write_bytes(task.document)
        published = PublishedModels(tmp_path / "models")
        with served(tmp_path, task, published=published) as url:
            serve.populate(tmp_path, url)
        newest = published.newest(task.address)
        return newest and published.model(newest), capsys.readouterr().err

    return played


@pytest.fixture
def hiding():
    """A channel of more than the epsilon of films, which everybody made up may choose."""
    return compile_channel("randomized-response", epsilon="5", scale=ONE, missing=True)


def test_who_did_what_is_answered_and_a_list_model_published(ask, populated, hiding):
    items = [f"place {k}" for k in range(50)]
    task = ask("sample:20", items=items, scale=ONE, channels=(hiding,), start=1_700_000_000)
    model, said = populated(task)
    assert f"Fitted to {30 * 20} reports" in said
    assert sorted(ListModel.from_bytes(model).items) == sorted(items)


def test_stars_are_answered_and_a_model_of_ratings_published(ask, populated):
    model, said = populated(ask(items=range(50), start=1_700_000_000))
    assert f"Fitted to {30 * 25} reports" in said
    assert sorted(ItemModel.from_bytes(model).items) == list(range(50))


def test_too_few_items_to_make_people_up_for_is_said(ask, populated, hiding):
    task = ask("sample:3", scale=ONE, channels=(hiding,), start=1_700_000_000)
    model, said = populated(task)
    assert model is None
    assert "No synthetic device could report: n_items must be at least 40" in said
