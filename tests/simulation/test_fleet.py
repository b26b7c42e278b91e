"""A fleet against a real collector, over real HTTP."""

from contextlib import closing
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from serving import served

from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.stored_reports import reports
from tacit.errors import RequestError
from tacit.metrics.split import at_random
from tacit.models import evidence, fold_in, item_model, model
from tacit.planning.fleet import Fleet

STARTED = 1_700_000_000


@pytest.fixture
def asked(ask, ratings):
    """A task about the items of `ratings`, but for the first."""
    return lambda plan="rated", **named: ask(
        plan, items=ratings.item_ids.ids.to_list()[1:], start=STARTED, **named
    )


@pytest.fixture
def file(ratings, tmp_path):
    """The same ratings as a file."""
    ratings.to_polars().write_csv(tmp_path / "made.csv")
    return tmp_path / "made.csv"


def learnt(folder):
    """What the collector stored."""
    with closing(open_reader(str(folder / "reports.db"))) as reader:
        return reports(reader)


def table(data):
    """(item, level) of every row, sorted."""
    items = data.item_ids.take(data.items).to_list()
    levels = data.symbols if hasattr(data, "symbols") else data.levels
    return sorted(zip(items, levels.tolist(), strict=True))


def test_to_hold_out_none_is_no_share(file, run):
    """Nor is it the share that `--score` takes where none is given; nobody is asked anything."""
    given = ("simulate", file, "--url", "http://127.0.0.1:9", "--scale", "1:5:1")
    status, _, err = run(*given, "--test-share", 0)
    assert status == 1
    assert "test_share must be between 0 and 1, got 0." in err


def test_the_people_of_a_file_report_its_training_rows(asked, ratings, file, tmp_path, run):
    task = asked(epsilons=("16",))  # at which symbols are levels, but for one in a million
    train = ratings.where(~at_random(len(ratings), 0.3, 5))
    train = train.where(train.items != 0)
    given = ("--scale", "1:5:1", "--test-share", 0.3, "--seed", 5, "--most-epsilon", 16)
    with served(tmp_path, task) as url:
        status, out, err = run("simulate", file, "--url", url, *given)
        assert (status, err) == (0, "")
        stored = learnt(tmp_path)
        short = run("simulate", file, "--url", url, *given, "--lifetime", 32, "--devices", 3)
    assert f"{ratings.n_users} devices with {len(train):,} ratings on the device" in out
    assert f"{len(train):,} reports stored, 0 pending" in out
    assert "ratings on items outside the task's catalogue" in out
    there, here = table(stored), table(train)
    assert [item for item, _ in there] == [item for item, _ in here]
    assert len(set(there) ^ set(here)) <= 6
    assert len(stored.user_ids) == ratings.n_users
    assert "6 reports stored" in short[1]
    assert "3 devices whose lifetime limit on epsilon was too low" in short[1]


@pytest.mark.long
def test_people_take_turns_and_a_token_is_needed(asked, ratings, tmp_path):
    token = "films-for-everybody"
    digest = sha256(token.encode()).hexdigest()
    task = asked("catalogue", epsilons=("0.1",))
    fleet = Fleet(url="", most_epsilon="1", lifetime="99", token=token, threads=3)
    with served(tmp_path, task, enrolment=Enrolment([digest], 1000, people=1000)) as url:
        tally = replace(fleet, url=url).report(ratings, 2 * ratings.n_users + 1)
        refused = replace(fleet, url=url, token=None).report(ratings, 2)
        assert refused.notes == {
            "Reports are still pending: the collector requires another token (status 401).": 2
        }
        poor = replace(fleet, url=url, lifetime="1").report(ratings, 2)
    assert tally.counts["devices"] == tally.counts["stored"] == 2 * ratings.n_users + 1
    assert (refused.counts["stored"], refused.counts["waiting"]) == (0, 2)
    assert (poor.counts["stored"], poor.counts["refused"]) == (0, 2)
    assert len(learnt(tmp_path).user_ids) == 121


def test_devices_predict_at_home_what_was_held_out(ask, ratings, file, tmp_path, run):
    task = ask(items=ratings.item_ids.ids.to_list(), start=STARTED)
    mask = at_random(len(ratings), 0.1, 2)
    train, test = ratings.where(~mask), ratings.where(mask)
    fitted = model("mf").fit(evidence(train))
    published = PublishedModels(tmp_path / "models")
    with served(tmp_path, task, published=published) as url:
        given = ("simulate", file, "--url", url, "--scale", "1:5:1", "--score", "--seed", 2)
        assert run(*given)[0] == 1
        published.publish(task.address, item_model(fitted))
        status, out, _ = run(*given)
    assert status == 0
    predicted = fold_in(fitted, train).predict_codes(test.users, test.items)
    error = float(np.sqrt(np.mean((predicted - test.values) ** 2)))
    assert f"RMSE {error:.4f} on {len(test):,} held-out ratings, on the device" in out
    with pytest.raises(RequestError, match="has no reports yet"):
        learnt(tmp_path)


def test_an_interrupt_keeps_what_was_done(asked, ratings, tmp_path):
    def interrupt(label, done, total):
        if done >= 5:
            raise KeyboardInterrupt

    with served(tmp_path, asked()) as url:
        fleet = Fleet(url=url, most_epsilon="1", lifetime="999", threads=2)
        tally = fleet.report(ratings, 60, interrupt)
    assert tally.interrupted
    assert 5 <= tally.counts["devices"] < 20


def test_other_ratings_are_refused(ask, ratings, tmp_path):
    foreign = ask(items=["a", "b"], start=STARTED)
    with served(tmp_path, foreign) as url:
        fleet = Fleet(url=url, most_epsilon="1", lifetime="999")
        with pytest.raises(RequestError, match="No item of"):
            fleet.report(ratings, 1)
        halves = replace(ratings, scale=type(ratings.scale).parse("1:9:2"))
        with pytest.raises(RequestError, match=r"the scale 1:5:1, .* has 1:9:2"):
            fleet.report(halves, 1)
    with pytest.raises(RequestError, match="cannot be reached: Connection refused"):
        fleet.report(ratings, 1)
