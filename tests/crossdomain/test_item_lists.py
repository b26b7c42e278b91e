"""Top-N lists of a target from interactions in a source."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from tacit.crossdomain import LIST_SYSTEMS, MEMBERS, OF_INTERACTIONS, ItemLists
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.experiments.crossdomain.trial_measurement import TrialMeasurement
from tacit.experiments.crossdomain.trials import TrialRequest
from tacit.models.lists import EASE, interactions
from tacit.readers import from_frame
from tacit.results.crossdomain.rows import as_text
from tacit.scale import THERE

GROUPS, OWN, OTHER = 4, 0.4, 0.02
BOOKS, FILMS, PEOPLE = 40, 48, 240


def _domain(name: str, n_items: int, rng: np.random.Generator) -> object:
    """Interactions of people who mostly choose items of their own group."""
    alike = np.arange(PEOPLE)[:, None] % GROUPS == np.arange(n_items) % GROUPS
    users, items = np.nonzero(rng.random(alike.shape) < np.where(alike, OWN, OTHER))
    table = pl.DataFrame({"user": users, "item": [f"{name} {item}" for item in items]})
    return from_frame(table, scale=THERE, name=name)


@pytest.fixture(scope="module")
def interests() -> Domains:
    """Books and films of four groups of people. What a user reads says what the user watches."""
    rng = np.random.default_rng(4)
    return Domains.join([_domain("books", BOOKS, rng), _domain("films", FILMS, rng)])


@pytest.fixture(scope="module")
def unseen(interests):
    """All films of a fifth of the people are hidden."""
    return Holdout().hide(interests, 1, seed=0)


def test_scores_are_sums_over_the_users_own_items(unseen):
    trial = unseen.trial
    ratings = trial.domains.ratings
    predicted = ItemLists(model=EASE()).predict(trial, engine=Local(), epsilon=None).predicted
    weights = EASE().fit(interactions(ratings)).weights
    between = weights.scores(csr_array(np.eye(ratings.n_items, dtype=np.float32)))
    for cell in range(0, len(trial.users), 97):
        own = ratings.items[ratings.users == trial.users[cell]]
        popularity = weights.popularity[trial.items[cell]]
        summed = (between[own, trial.items[cell]] - popularity).sum() + popularity
        assert predicted.values[cell] == pytest.approx(summed, abs=1e-4)
    assert predicted.covered.all()


@pytest.mark.parametrize(("epsilon", "least"), [(None, 1.8), ("4", 1.6)])
def test_books_show_which_films_a_user_watches(interests, epsilon, least):
    request = TrialRequest(models=("ease",), epsilons=(epsilon or "1",))
    cells = [cell for cell in request.cells(interests) if cell.system.name != "random"]
    measure = TrialMeasurement(interests, Local())
    ndcg = {
        (row.model, row.epsilon): row.ndcg_at_20
        for cell in cells
        if cell.epsilon in (None, epsilon)
        for row in measure(cell)
    }
    claimed = None if epsilon is None else float(epsilon)
    # Over eight seeds: 2.3 to 3.3 times without privacy, 2.1 to 3.2 times at epsilon 4.
    assert ndcg["ease", claimed] > least * ndcg["popularity", None]


def test_a_row_has_metrics_of_lists_alone_and_a_guarantee_per_slot(interests):
    request = TrialRequest(models=tuple(LIST_SYSTEMS), epsilons=("2",))
    measure = TrialMeasurement(interests, Local())
    rows = [row for cell in request.cells(interests) for row in measure(cell)]
    assert {row.model for row in rows} == {*LIST_SYSTEMS, "random", "popularity"}
    assert all(row.mae is None and row.ndcg_at_20 is not None for row in rows)
    assert {(row.unit, row.epsilon) for row in rows if row.mode == "strict"} == {("slot", 2.0)}
    table = as_text(rows)
    assert "mean absolute error" not in table
    assert "top-20 lists; epsilon per slot" in table


def test_a_list_that_is_not_ahead_of_popularity_is_named(interests):
    request = TrialRequest(models=("ease",), epsilons=("2",))
    measure = TrialMeasurement(interests, Local())
    rows = [row for cell in request.cells(interests) for row in measure(cell)]
    assert "Not ahead of popularity" not in as_text(rows)
    worse = [replace(row, ndcg_at_20=0.0) if row.mode == "strict" else row for row in rows]
    assert "Not ahead of popularity in NDCG@20: ease, strict, 2." in as_text(worse)


@pytest.mark.parametrize(
    "system", OF_INTERACTIONS, ids=lambda system: f"{system.name}-{system.mode}"
)
def test_levels_and_a_missing_epsilon_are_refused(system, trial, unseen):
    with pytest.raises(RequestError, match=r"requires implicit feedback, got ratings on the scale"):
        system.predict(trial, engine=Local(), epsilon="1")
    if system.mode == "strict":
        with pytest.raises(RequestError, match="requires an epsilon"):
            system.predict(unseen.trial, engine=Local(), epsilon=None)


@pytest.mark.parametrize(
    "system", MEMBERS, ids=lambda each: f"{each.name}-{each.variant}-{each.mode}"
)
def test_a_system_that_predicts_ratings_refuses_interactions(system, unseen):
    with pytest.raises(RequestError, match="got implicit feedback"):
        system.predict(unseen.trial, engine=Local(), epsilon="8")


def test_systems_of_the_other_kind_of_data_are_refused(interests, domains):
    with pytest.raises(RequestError, match=r"model must be one of .* for implicit feedback"):
        TrialRequest(models=("x-map",)).cells(interests)
    with pytest.raises(RequestError, match=r"model must be one of .* for ratings"):
        TrialRequest(models=("ease",)).cells(domains)
