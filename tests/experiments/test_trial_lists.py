"""Lists of a target's catalogue: asked once with the hidden ratings, and measured as said."""

import json
import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

from tacit import crossdomain
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import Predicted, TrialPredictions
from tacit.crossdomain.x_map.replacement import Draws
from tacit.engines.engine import Local
from tacit.errors import DataError, RequestError
from tacit.experiments.crossdomain import list_trials
from tacit.experiments.crossdomain.list_trials import AskedCatalogue, list_baselines
from tacit.experiments.crossdomain.trial_cell import TrialCell
from tacit.experiments.crossdomain.trial_measurement import TrialMeasurement
from tacit.experiments.crossdomain.trials import TrialRequest
from tacit.experiments.experiment import Journal
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.reporting.table import text
from tacit.results.comparison.row import LISTS
from tacit.results.crossdomain.report import report
from tacit.results.crossdomain.rows import CONSTANTS, TrialRow, list_table, mean, table
from tacit.results.records import save
from tacit.training.mechanism import noisy_releases

pytestmark = pytest.mark.usefixtures("blank_pictures")

SPLIT = Holdout(keep=2, overlap=0.5)
SECONDS = {"seconds": 0.0}
KINDS = [
    pytest.param(m, id=f"{m.name}-{m.variant}-{m.mode}")
    for m in crossdomain.MEMBERS
    if m not in crossdomain.CONSTANTS
]


def films(domains):
    """The number of items of the target."""
    return domains.bounds[2] - domains.bounds[1]


@dataclass(frozen=True, kw_only=True)
class Told:
    """Tells what `opinion` says of each cell, and keeps what it was asked in `asked`."""

    name: str = "told"

    variant, mode = None, "none"
    asked = ()

    def opinion(self, users, items):
        """Few different numbers, so that most of a list is ties."""
        return ((users * 7 + items * 5) % 11 // 3).astype(float)

    def predict(self, trial, *, engine, epsilon):
        Told.asked = (*Told.asked, trial)
        cells = np.ones(len(trial.items), bool)
        return TrialPredictions(
            Predicted(self.opinion(trial.users, trial.items), cells), NO_PRIVACY
        )


@dataclass(frozen=True, kw_only=True)
class Silent(Told):
    """Has no number for the cell at one `place`."""

    place: int

    def opinion(self, users, items):
        return np.where(np.arange(len(items)) == self.place, math.nan, 3.0)


class WordsForTestsOnly:
    def __init__(self):
        self.chance = np.random.default_rng(0)

    def fill(self, words):
        words[:] = self.chance.integers(0, 1 << 64, len(words), dtype=np.uint64)


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setitem(crossdomain.SYSTEMS, "told", (Told(),))
    monkeypatch.setattr(Told, "asked", ())


@pytest.fixture
def same_draws(monkeypatch):
    monkeypatch.setattr(Draws, "secret", lambda: Draws(bytes(32)))
    monkeypatch.setattr(noisy_releases, "secret_words", WordsForTestsOnly)


@pytest.fixture
def dull(domains):
    """The domains, where the first tested person likes no film: (domains, who)."""
    who = SPLIT.hide(domains, 1, 0).trial.people[0]
    ratings = domains.ratings
    levels = np.where((ratings.users == who) & domains.rows(1), 2, ratings.levels)
    return replace(domains, ratings=replace(ratings, levels=levels.astype(np.uint8))), who


def measure(domains, system, with_lists, epsilon=None):
    asked = TrialCell(
        data="", names=domains.names, target=1, system=system, epsilon=epsilon,
        protocol=SPLIT, seed=0, lists=with_lists,
    )  # fmt: skip
    (row,) = TrialMeasurement(domains, Local())(asked)
    return row


def rows_of(domains, journal=None, **asked):
    crossing = TrialRequest(**{"models": ("item-average",), **asked})
    rows = crossing.experiment(domains, Local()).rows(journal)
    return [row for row in rows if row.model not in CONSTANTS]


def cells(trial):
    """What is known of each person in the target, as they and their items."""
    known = trial.domains.ratings
    return set(
        zip(
            known.users[trial.in_target].tolist(),
            known.items[trial.in_target].tolist(),
            strict=True,
        )
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("system", KINDS)
def test_errors_are_those_of_a_trial_without_lists(system, domains, same_draws):
    epsilon = None if system.mode == "none" else "2"
    plain, beside = (measure(domains, system, asked, epsilon) for asked in (False, True))
    assert all(getattr(plain, name) is None for name in LISTS)
    assert all(0 <= getattr(beside, name) <= 1 for name in LISTS)
    none = dict.fromkeys(LISTS) | SECONDS
    assert replace(beside, **none) == replace(plain, **none)


def naive(hidden, opinion):
    """Ndcg, recall, mrr, hit rate, coverage and popularity, one person at a time."""
    trial = hidden.trial
    known = cells(trial)
    films = range(trial.domains.bounds[1], trial.domains.bounds[2])
    raters = {user for user, _ in known}
    share = {film: sum((user, film) in known for user in raters) / len(raters) for film in films}
    true = {
        (int(u), int(i)): float(v)
        for u, i, v in zip(trial.users, trial.items, hidden.values, strict=True)
    }
    found, shown = [], []
    for person in trial.people.tolist():
        rest = [film for film in films if (person, film) not in known]
        best = sorted(rest, key=lambda film: (-opinion(person, film), film))[:20]
        shown += best
        liked = [film for film in films if true.get((person, film), 0) >= 4]
        ranks = [rank for rank, film in enumerate(best, 1) if film in liked]
        if liked:
            ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(20, len(liked)) + 1))
            gain = sum(1 / math.log2(rank + 1) for rank in ranks)
            first = 1 / ranks[0] if ranks else 0
            found.append((gain / ideal, len(ranks) / len(liked), first, float(bool(ranks))))
    assert len(found) < len(trial.people), "somebody likes nothing"
    means = np.mean(found, axis=0).tolist()
    return [*means, len(set(shown)) / len(films), float(np.mean([share[film] for film in shown]))]


def test_figures_are_those_of_their_twin(dull, told):
    domains, who = dull
    hidden = SPLIT.hide(domains, 1, 0)
    assert who in hidden.trial.people
    row = measure(domains, Told(), with_lists=True)
    twin = naive(hidden, lambda user, film: (user * 7 + film * 5) % 11 // 3)
    assert [getattr(row, name) for name in LISTS] == pytest.approx(twin)


def test_popularity_ranks_by_known_ratings_of_the_target(dull):
    domains, _ = dull
    known = cells(SPLIT.hide(domains, 1, 0).trial)
    twin = naive(SPLIT.hide(domains, 1, 0), lambda _, film: sum(i == film for _, i in known))
    *_, floor = rows_of(domains, keeps=(2,), overlaps=(0.5,), lists=True)
    assert floor.model == "popularity"
    assert [getattr(floor, name) for name in LISTS] == pytest.approx(twin)


def test_a_system_is_asked_once_for_all_but_what_was_kept(domains, told):
    measure(domains, Told(), with_lists=True)
    (asked,) = Told.asked
    known = cells(asked)
    films = range(domains.bounds[1], domains.bounds[2])
    every = [(u, i) for u in asked.people.tolist() for i in films if (u, i) not in known]
    assert list(zip(asked.users.tolist(), asked.items.tolist(), strict=True)) == every
    assert len(every) == len(asked.people) * (len(films) - SPLIT.keep)


def test_what_was_kept_is_in_no_list_even_if_all_else_is_disliked(domains):
    trial = SPLIT.hide(domains, 1, 0).trial
    catalogue = AskedCatalogue.of(trial)
    low = np.full(len(catalogue.trial.items), -9.0)
    found = catalogue.lists(Predicted(low, low < 0), length=films(domains))
    shown = [
        {(who, item + domains.bounds[1]) for item in codes if item >= 0}
        for who, codes in zip(trial.people.tolist(), found.tolist(), strict=True)
    ]
    assert not set.union(*shown) & cells(trial)
    assert {len(some) for some in shown} == {films(domains) - SPLIT.keep}


def test_floors_have_lists_and_no_errors_and_run_once_a_trial(domains):
    rows = rows_of(
        domains, models=("item-average", "item-offset"), keeps=(0, 2), seeds=2, lists=True
    )
    floors = [row for row in rows if row.mae is None]
    assert [row.model for row in floors] == ["random", "popularity"] * 4
    assert {(row.mae_rounded, row.coverage, row.claim) for row in floors} == {
        (None, None, "no privacy")
    }
    drawn = {row.ndcg_at_20 for row in floors if row.model == "random"}
    assert len(drawn) == 4
    assert all(row.mae is not None for row in rows_of(domains))
    assert len(rows) - len(floors) == 4 * (2 + 2)


def test_lists_at_random_follow_the_seed_of_the_trial(domains):
    trial = AskedCatalogue.of(SPLIT.hide(domains, 1, 0).trial).trial
    drawn, again, other = (
        list_baselines(seed)[0].predict(trial, engine=Local(), epsilon=None).predicted.values
        for seed in (0, 0, 1)
    )
    assert (drawn == again).all()
    assert (drawn != other).all()


def test_a_runner_may_be_asked_with_lists_and_without(domains, told):
    crossing = [TrialRequest(models=("told",), lists=lists) for lists in (False, True, False)]
    runner = TrialMeasurement(domains, Local())
    rows = [runner(asked.cells(domains)[0])[0] for asked in crossing]
    assert [row.coverage_at_20 is not None for row in rows] == [False, True, False]
    assert len({row.mae for row in rows}) == 1


def test_a_mean_is_of_all_figures_that_there_are_and_0_is_one(domains):
    rows = rows_of(domains, models=("item-average", "remote-user"), lists=True)
    told = [row.coverage for row in rows if row.coverage is not None]
    assert 0 in told
    assert mean(rows, "coverage") == pytest.approx(sum(told) / len(told))
    assert math.isnan(mean(rows[-1:]))


def test_floors_are_in_the_table_of_lists_alone(domains):
    rows = rows_of(domains, keeps=(0, 2), lists=True)
    assert {line[0] for line in table(rows).lines} == {"item-average"}
    shown = list_table(rows)
    assert shown.heading == (
        "system", "epsilon", "keep", "NDCG@20", "Recall@20", "MRR", "hit rate", "coverage",
        "popularity",
    )  # fmt: skip
    assert [line[:3] for line in shown.lines][-2:] == [
        ("random", "no privacy", "2"), ("popularity", "no privacy", "2"),
    ]  # fmt: skip
    ndcg = [row.ndcg_at_20 for row in rows if row.model == "popularity"]
    assert [line[3] for line in shown.lines if line[0] == "popularity"] == [
        f"{n:.3f}" for n in ndcg
    ]
    assert mean(rows) == mean([row for row in rows if row.model == "item-average"])


def test_the_report_has_both_tables_and_its_lead_and_figures_no_floor(domains):
    rows = rows_of(domains, keeps=(0, 2), lists=True)
    page = report(rows)
    assert all(name in page for name in ("NDCG@20", "hit rate", "Baselines: random lists"))
    for ordered in (rows, rows[::-1]):
        lead = report(ordered).split("<p class=lead>")[1].split("</p>")[0]
        assert "item-average" in lead
        assert "popularity" not in lead
    figure = page[page.index("<figure>") : page.index("</figure>")]
    assert "item-average" in figure
    assert "popularity" not in figure
    assert "NDCG" not in report(rows_of(domains))


def test_where_nobody_likes_anything_only_what_was_shown_is_told(domains, tmp_path):
    low = replace(domains, ratings=replace(domains.ratings, levels=domains.ratings.levels % 3))
    rows = rows_of(low, lists=True)
    assert {(row.ndcg_at_20, row.recall_at_20, row.mrr, row.hit_rate_at_20) for row in rows} == {
        (None, None, None, None)
    }
    assert all(row.coverage_at_20 and row.popularity_at_20 for row in rows)
    assert list_table(rows).lines[0][2:6] == ("–", "–", "–", "–")
    assert [TrialRow.from_dict(row.to_dict()) for row in rows] == rows
    save(rows, tmp_path / "rows.json", TrialRow)
    assert pl.read_parquet(tmp_path / "rows.parquet")["mae"].null_count() == 2


def test_rows_come_back_from_a_journal_and_none_without_lists_is_taken_for_one_with(
    domains, told, tmp_path
):
    path = tmp_path / "journal"
    rows = rows_of(domains, Journal(path, TrialRow), models=("told",), lists=True)
    assert rows_of(domains, Journal(path, TrialRow), models=("told",), lists=True) == rows
    assert len(Told.asked) == 1
    (plain,) = rows_of(domains, Journal(path, TrialRow), models=("told",))
    assert len(Told.asked) == 2
    assert plain.coverage_at_20 is None
    assert plain.mae == rows[0].mae


def test_rows_from_before_there_were_lists_are_refused_and_their_trials_run_again(
    domains, told, tmp_path
):
    path = tmp_path / "journal"
    (row,) = rows_of(domains, Journal(path, TrialRow), models=("told",))
    old = {key: value for key, value in row.to_dict().items() if key not in LISTS}
    with pytest.raises(DataError, match="'coverage_at_20' of a result row is missing"):
        TrialRow.from_dict(old)
    entry, *constants = path.read_text().splitlines()
    entry = json.dumps({**json.loads(entry), "rows": [old]})
    path.write_text("\n".join([entry, *constants, ""]))
    again = rows_of(domains, Journal(path, TrialRow), models=("told",))
    assert len(Told.asked) == 2
    assert replace(again[0], **SECONDS) == replace(row, **SECONDS)


def test_a_number_that_is_none_is_refused_wherever_it_is(domains, told):
    asked = AskedCatalogue.of(SPLIT.hide(domains, 1, 0).trial)
    beside = np.setdiff1d(np.arange(len(asked.trial.items)), asked.hidden)
    for place in (int(beside[0]), int(asked.hidden[0])):
        with pytest.raises(RequestError, match="The system predicted a non-finite rating"):
            measure(domains, Silent(place=place), with_lists=True)


def test_more_predictions_than_there_is_memory_for_are_refused_before_a_system_is_asked(
    domains, told, monkeypatch
):
    people, items = len(SPLIT.hide(domains, 1, 0).trial.people), films(domains)
    monkeypatch.setattr(list_trials, "MOST_SCORES", people * items - 1)
    refused = f"{people} test users and {items} items require {people * items} predictions"
    with pytest.raises(RequestError, match=refused):
        measure(domains, Told(), with_lists=True)
    assert Told.asked == ()
    monkeypatch.setattr(list_trials, "MOST_SCORES", 12 * 40)
    assert measure(domains, Told(), with_lists=True).mrr is not None


def test_the_command_prints_a_second_table_and_writes_the_columns(files, tmp_path, run):
    asked = ("crossdomain", *files, "--scale", "1:5:1", "--model", "item-average", "--epsilon", "1")
    out = tmp_path / "out.json"
    status, printed, said = run(*asked, "--lists", "--json", out)
    assert status == 0, said
    assert "books to films: top-20 lists" in printed
    rows = [TrialRow.from_dict(values) for values in json.loads(out.read_text())]
    assert text(table(rows)) + "\n\n" + text(list_table(rows)) in printed
    names = ["item-average", "item-average", *CONSTANTS, "random", "popularity"]
    assert [row.model for row in rows] == names
    status, printed, _ = run(*asked)
    assert status == 0
    assert "lists" not in printed
    assert "popularity" not in printed
