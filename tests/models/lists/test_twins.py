"""Models of lists beside naive twins: without noise each is what its paper says."""

import numpy as np
import pytest
from lists_world import world
from scipy.sparse import csr_array, random_array

from tacit import fit
from tacit.kernels.layout import add_product
from tacit.models import LIST_MODELS
from tacit.models.lists import EASE, GraphFilter, Random, interactions

ITEMS = 20


def best(scores, table, length):
    """Each row's unseen items by falling score, ties by code, by sorting tuples."""
    lists = np.full((len(table), length), -1)
    for u, row in enumerate(scores.tolist()):
        left = sorted((-s, j) for j, s in enumerate(row) if not table[u, j])
        lists[u, : len(left[:length])] = [j for _, j in left[:length]]
    return lists


def scores_of(fitted, table):
    return fitted.weights.scores(csr_array(table.astype(np.float32)))


def test_ease_is_the_closed_form(own, table):
    inverse = np.linalg.inv(table.T @ table + 7 * np.eye(ITEMS))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    fitted = EASE(ridge=7).fit(interactions(own))
    assert scores_of(fitted, table) == pytest.approx(table @ weights, abs=1e-5)


def test_ease_minimises_its_loss_in_each_column(own, table):
    """Without its own item a column is a ridge regression on all the others."""
    fitted = EASE(ridge=3).fit(interactions(own))
    for j in (0, 9, ITEMS - 1):
        others = np.delete(np.arange(ITEMS), j)
        X = table[:, others]
        column = np.linalg.solve(X.T @ X + 3 * np.eye(ITEMS - 1), X.T @ table[:, j])
        assert fitted.weights.between[others, j] == pytest.approx(column, abs=1e-5)
        assert fitted.weights.between[j, j] == 0


@pytest.mark.parametrize("seed", [3, 9, 17])
def test_the_ridge_is_the_least_that_keeps_nearly_all_of_the_gain_on_people_held_out(seed):
    """Every ridge in turn, by the squared error of the rows of one person in five; some items are
    thirty times as popular as others, so that an error is weighed by the right ones."""
    chance = np.random.default_rng(seed)
    likes = np.where(chance.random((60, 1)) < 0.5, [[0.9, 0.1]], [[0.1, 0.9]]).repeat(10, axis=1)
    table = (chance.random((60, ITEMS)) < likes * np.linspace(0.03, 1, ITEMS)).astype(float)
    own = world(table)
    held = np.random.default_rng(0).permutation(len(table)) % 5 == 0
    known, other = table[~held], table[held]

    def loss(step):
        ridge = np.trace(known.T @ known) / ITEMS * 2 ** (step / 2)
        inverse = np.linalg.inv(known.T @ known + ridge * np.eye(ITEMS))
        return ((other @ inverse / np.diag(inverse)) ** 2).sum()

    losses = {step: loss(step) for step in range(-20, 21)}
    best = min(losses.values())
    bound = best + 0.01 * ((other**2).sum() - best)
    step = min(step for step, found in losses.items() if found <= bound)
    chosen = EASE(ridge=np.trace(table.T @ table) / ITEMS * 2 ** (step / 2))
    expected = chosen.fit(interactions(own)).weights.between
    assert fit("ease", own).weights.between == pytest.approx(expected, abs=1e-6)


def test_the_graph_filter_is_the_published_one(own, table):
    """Shen et al.'s two filters, by a whole singular value decomposition."""
    people, items = table.sum(1), table.sum(0)
    scaled = table / np.sqrt(np.outer(people, items))
    V = np.linalg.svd(scaled)[2][:5].T
    low_pass = (V / np.sqrt(items)[:, None]) @ (V * np.sqrt(items)[:, None]).T
    expected = table @ (scaled.T @ scaled + 0.3 * low_pass)
    fitted = GraphFilter(directions=5).fit(interactions(own))
    assert scores_of(fitted, table) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", ["ease", "graph-filter", "popularity"])
def test_lists_are_the_best_unseen_items_and_both_places_agree_without_noise(name, own, table):
    fitted = fit(name, own)
    fold_in = fitted.lists(own, 6)
    assert fold_in.tolist() == best(scores_of(fitted, table), table, 6).tolist()
    assert fitted.lists(own, 6, where="provider").tolist() == fold_in.tolist()
    whole = fitted.lists(own, ITEMS + 5)
    assert ((whole >= 0).sum(1) == ITEMS - table.sum(1)).all()


def test_one_person_s_list_is_their_row_of_everybody_s(own, table):
    fitted = fit("ease", own)
    row = fitted.lists(own, 4)[7].tolist()
    mine = own.item_ids.take(np.flatnonzero(table[7]).astype(np.int32))
    for told in (
        fitted.recommend(own.user_ids.ids[7], 4, exclude=mine),
        fitted.recommend_to(mine, 4),
    ):
        assert own.item_ids.codes(type(mine)([item for item, _ in told])).tolist() == row


def test_popularity_counts_people(own, table):
    fitted = fit("popularity", own)
    assert fitted.weights.popularity.tolist() == table.sum(0).tolist()


def test_random_lists_show_every_unseen_item_alike(own, table):
    """Of five unseen items each leads a list about as often: 5 sd of a binomial."""
    first = np.concatenate(
        [Random().fit(interactions(own), rng=seed).lists(own, 1)[:, 0] for seed in range(100)]
    )
    expected = (100 * (1 - table) / (ITEMS - table.sum(1))[:, None]).sum(0)
    found = np.bincount(first, minlength=ITEMS)
    assert (abs(found - expected) < 5 * np.sqrt(expected)).all()
    again = Random().fit(interactions(own), rng=3).lists(own, 5)
    assert (again == Random().fit(interactions(own), rng=3).lists(own, 5)).all()


def test_sparse_products_are_added():
    chance = np.random.default_rng(2)
    left, right = (random_array((9, 9), density=0.3, rng=chance).tocsr() for _ in range(2))
    scores = np.ones((9, 9), np.float32)
    add_product(left, right, scores)
    assert scores == pytest.approx(1 + (left @ right).toarray(), abs=1e-6)


def test_a_registry_row_a_model():
    assert list(LIST_MODELS) == ["random", "popularity", "ease", "graph-filter"]


def test_a_table_of_low_rank_has_a_graph_filter():
    """133 users and 119 items with 20 different columns: more directions than the rank."""
    chance = np.random.default_rng(0)
    columns = (chance.random((133, 20)) < 0.3).astype(float)
    table = columns[:, np.arange(119) % 20]
    table[table.sum(1) == 0, 0] = 1
    own = world(table)
    lists = fit("graph-filter", own).lists(own, 5)
    assert (lists[table.sum(1) < 114] >= 0).all()
