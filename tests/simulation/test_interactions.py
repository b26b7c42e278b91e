"""A fleet that tells who did what: what a collector stores of it, and by what law."""

import re
from contextlib import closing
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from serving import served

from tacit import fit
from tacit.channels import compile_channel
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.stored_reports import reports
from tacit.device.list_profile import ListProfile
from tacit.errors import RequestError
from tacit.metrics.lists import list_figures
from tacit.metrics.split import at_random
from tacit.models import list_model
from tacit.planning.fleet import Fleet
from tacit.readers import from_frame
from tacit.readers.synthetic import synthetic
from tacit.scale import RatingScale

ONE = RatingScale.parse("there")
EVERY = 400


@pytest.fixture
def asking(ask):
    """A question of one level about some items."""

    def made(plan, items, epsilon="16"):
        channel = compile_channel("randomized-response", epsilon=epsilon, scale=ONE, missing=True)
        named = {"scale": ONE, "channels": (channel,), "start": 1_700_000_000}
        return ask(plan, items=items, **named)

    return made


@pytest.fixture
def stored(tmp_path):
    """Plays a fleet against a collector of a task; the outcome, and what the store has."""

    def played(task, people, devices=None, **settings):
        given = {"most_epsilon": "16", "lifetime": "1000000", "threads": 2} | settings
        folder = tmp_path / task.address[:8]
        folder.mkdir()
        with served(folder, task) as url:
            outcome = Fleet(url=url, **given).report(people, devices or people.n_users)
        with closing(open_reader(str(folder / "reports.db"))) as reader:
            return outcome, reports(reader)

    return played


def table(*pairs):
    """Interactions of (person, item)."""
    users, items = zip(*pairs, strict=True)
    return from_frame(pl.DataFrame({"user": users, "item": items}, strict=False), scale="there")


def shown(found):
    """What each person's report says to be there, sorted; people without anything, too."""
    told = {person: set() for person in found.user_ids.ids.to_list()}
    there = found.symbols == 1
    people, items = found.user_ids.take(found.users[there]), found.item_ids.take(found.items[there])
    for person, item in zip(people, items, strict=True):
        told[person].add(item)
    return sorted(sorted(each) for each in told.values())


def test_who_did_what_is_played_from_a_file_of_two_columns(asking, tmp_path, run):
    """At epsilon 16 nine reports in a hundred million are untrue, so that a store can be read."""
    people = synthetic(n_users=40, n_items=50, n_ratings=900, scale="there", rng=2)
    people.to_polars().write_csv(tmp_path / "seen.csv")
    kept = people.where(~at_random(len(people), 0.3, 5))
    homes = [set(kept.item_ids.take(kept.items[kept.users == k])) for k in range(40)]
    with served(tmp_path, asking("catalogue", people.item_ids.ids.to_list())) as url:
        given = ("simulate", tmp_path / "seen.csv", "--url", url, "--most-epsilon", 16)
        status, out, _ = run(*given, "--test-share", 0.3, "--seed", 5)
    with closing(open_reader(str(tmp_path / "reports.db"))) as reader:
        found = reports(reader)
    assert status == 0
    assert f"40 devices with {len(kept)} interactions on the device" in out
    assert shown(found) == sorted(map(sorted, homes))
    assert (found.plan, found.scale, found.guarantee.unit) == ("catalogue", ONE, "slot")


@pytest.mark.parametrize(
    ("plan", "name"),
    [("sample:25", "ease"), pytest.param("catalogue", "graph-filter", marks=pytest.mark.long)],
)
def test_lists_at_home_are_as_good_as_those_of_the_same_reports_in_memory(
    asking, tmp_path, run, plan, name
):
    made = synthetic(n_users=90, n_items=60, n_ratings=2000, scale="there", rng=2)
    frame = made.to_polars().select("user", "item")
    few = frame.head(9).with_columns(user=pl.arange(901, 910))  # of whom most hold nothing out
    people = from_frame(pl.concat([frame, few]), scale="there")
    people.to_polars().write_csv(tmp_path / "seen.csv")
    held = at_random(len(people), 0.2, 3)
    known, rest = people.where(~held), people.where(held)
    folder, ids = tmp_path / "models", people.item_ids.ids
    task = asking(plan, ids.to_list()[::-1], "2")  # a place is not a code
    with served(tmp_path, task, published=PublishedModels(folder)) as url:
        given = ("simulate", tmp_path / "seen.csv", "--url", url, "--most-epsilon", 2)
        given += ("--test-share", 0.2, "--seed", 3)
        assert "99 reports stored" in run(*given)[1]
        store = ("fit", "--db", tmp_path / "reports.db", "--publish", folder)
        assert run(*store, "--model", name, "-o", tmp_path / "model")[0] == 0
        status, out, said = run(*given, "--score")
    assert status == 0, said
    with closing(open_reader(str(tmp_path / "reports.db"))) as reader:
        model = list_model(fit(name, reports(reader)))
    homes = [ids.gather(known.items[known.users == who]) for who in range(99)]
    shown = [[item for item, _ in ListProfile(model, mine).recommend(20)] for mine in homes]
    lists = np.full((99, 20), -1, np.int32)  # nobody's, unless a list was shown
    for own, mine in zip(lists, shown, strict=True):
        own[: len(mine)] = people.item_ids.codes(pl.Series(mine, dtype=ids.dtype))
    rest = rest.where(np.isin(rest.users, known.users))  # the others have no list, and no figure
    truth = list_figures(lists, rest.users, rest.items, np.ones(60))
    measured = re.search(r"NDCG@20 (\S+) over (\d+) users, on the device", out)
    assert int(measured[2]) == truth.people < 99
    assert float(measured[1]) == pytest.approx(truth.ndcg, abs=2e-4)


def test_a_sample_says_of_what_it_was_asked_and_of_nothing_else(asking, stored):
    people = table(*((who, item) for who in range(12) for item in range(0, 30, 2)))
    outcome, found = stored(asking("sample:7", range(30)), people)
    assert outcome.counts["stored"] == outcome.counts["devices"] == len(found.user_ids) == 12
    assert len(found) == 12 * 7
    items = np.array(found.item_ids.ids.to_list())[found.items]
    assert (found.symbols == (items % 2 == 0)).all()
    assert 0 < (items % 2 == 0).sum() < len(found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", ["catalogue", "sample:1", "sample:200"])
def test_one_person_and_one_item(asking, stored, plan):
    outcome, found = stored(asking(plan, ["a"]), table(("ann", "a")))
    assert outcome.counts["stored"] == 1
    assert shown(found) == [["a"]]
    assert len(found.item_ids) == 1


@pytest.mark.parametrize("plan", ["catalogue", "sample:200"])
def test_a_person_with_everything_and_one_with_nothing_are_there(asking, stored, plan):
    people = table(*(("all", item) for item in range(9)), ("some", 3))
    people = people.with_people(["all", "some", "none"])
    outcome, found = stored(asking(plan, range(9)), people)
    assert outcome.counts["stored"] == 3
    assert shown(found) == [[], list(range(9)), [3]]


def test_people_and_questions_of_other_scales_do_not_go_together(asking, stored, ask, ratings):
    seen = table(("ann", 100), ("bob", 101))
    with pytest.raises(RequestError, match=r"the scale there, .* has 1:5:1"):
        stored(asking("sample:3", range(100, 106)), ratings)
    with pytest.raises(RequestError, match=r"the scale 1:5:1, .* has there"):
        stored(ask("catalogue", start=1_700_000_000), seen)


def excess(found, epsilon):
    """By how many standard deviations the store shows more than the table of `epsilon` says, of
    items that everybody has at home (the even ones) and of the others; and how much more reports
    differ among each other than independent draws would, in standard deviations as well."""
    truly = np.exp(float(epsilon)) / (1 + np.exp(float(epsilon)))
    items = np.array(found.item_ids.ids.to_list())[found.items]
    far = []
    for mine, law in ((items % 2 == 0, truly), (items % 2 == 1, 1 - truly)):
        asked = np.bincount(found.users[mine], minlength=len(found.user_ids))
        told = np.bincount(found.users[mine], found.symbols[mine], minlength=len(found.user_ids))
        unit = (told - asked * law) / np.sqrt(asked * law * (1 - law))
        spread = np.mean((unit - unit.mean()) ** 2) - 1
        far += [unit.sum() / np.sqrt(len(unit)), spread / np.sqrt(2 / len(unit))]
    return np.abs(far)


@pytest.mark.long
def test_symbols_in_the_store_follow_the_table(asking, stored):
    """One slot in nine is told otherwise at epsilon 2, independently; five standard deviations see
    a table of another epsilon, rows that are mixed up, and one word drawn for a whole report."""
    people = table(*((who, item) for who in range(200) for item in range(0, EVERY, 2)))
    _, found = stored(asking("sample:200", range(EVERY), "2"), people)
    assert len(found) == 200 * 200
    assert excess(found, "2").max() < 5
    _, other = stored(asking("sample:200", range(EVERY), "2.4"), people)
    assert excess(other, "2")[[0, 2]].min() > 5
    mixed = replace(found, symbols=1 - found.symbols)
    assert excess(mixed, "2")[[0, 2]].min() > 5
    same = replace(found, symbols=found.symbols[np.searchsorted(found.users, found.users)])
    assert excess(same, "2")[[1, 3]].min() > 5
