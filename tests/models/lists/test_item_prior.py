"""EASE with public item features: an item with few reports has the weights of similar items."""

from math import log2

import numpy as np
import polars as pl
import pytest
from lists_world import world
from repeatable_words import RepeatableWordsForTestsOnly

from tacit import fit
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue
from tacit.errors import RequestError
from tacit.models.evidence.item_features import item_features, item_similarity
from tacit.models.evidence.tuning import Tuning
from tacit.models.lists import EASE, ease_from_reports, interactions
from tacit.models.lists.co_occurrence import CoOccurrence
from tacit.models.lists.ease_from_reports import shrunk
from tacit.models.lists.ease_solution import retained
from tacit.models.lists.shrinkage import Blend
from tacit.scale import RatingScale

USERS, ITEMS, KINDS = 300, 120, 6
KIND = np.arange(ITEMS) % KINDS


def genres(kind):
    return pl.DataFrame({"item": range(len(kind)), "genre": [f"kind-{k}|film" for k in kind]})


@pytest.fixture(scope="module")
def few():
    """Users with about seven of 120 items, most of one kind: to learn from, and held out."""
    chance = np.random.default_rng(5)
    taste = chance.integers(0, KINDS, USERS)
    likes = np.where(taste[:, None] == KIND, 0.25, 0.02)
    own = world(chance.random((USERS, ITEMS)) < likes)
    held = np.random.default_rng(6).random(len(own)) < 0.4
    return own.where(~held), own.where(held)


def hits(fitted, split):
    """Discounted hits of the top ten, a mean over users."""
    own, held = split
    lists = fitted.lists(own, 10)
    wanted = {*zip(held.users.tolist(), held.items.tolist(), strict=True)}
    return sum(
        1 / log2(rank + 2)
        for user, items in enumerate(lists.tolist())
        for rank, item in enumerate(items)
        if (user, item) in wanted
    ) / len(lists)


def similarity_by_hand(kind):
    """S S' of one value per item: centred indicators, scaled to 1 on average."""
    marks = (kind[:, None] == np.arange(KINDS)).astype(float)
    marks -= marks.mean(0)
    product = marks @ marks.T
    return product / np.diag(product).mean()


def test_similarity_is_that_of_shared_values():
    kind = np.random.default_rng(1).integers(0, KINDS, 60)
    table = genres(kind)
    found = item_similarity(item_features(table, world(np.ones((1, 60))).item_ids), 60)
    assert found @ found.T == pytest.approx(similarity_by_hand(kind), abs=1e-9)


def test_features_that_tell_no_items_apart_change_nothing(few):
    table = pl.DataFrame({"item": range(ITEMS), "genre": ["film"] * ITEMS})
    plain, same = fit("ease", few[0]), fit("ease", few[0], item_table=table)
    assert same.weights.between.tolist() == plain.weights.between.tolist()
    assert same.tuning.prior == 0


def test_weights_without_noise_are_those_of_the_sum_of_moments(few):
    """The closed form of G + w E, E by its definition, at the ridge and w of the fit."""
    own = few[0]
    fitted = fit("ease", own, item_table=genres(KIND))
    assert fitted.tuning.prior > 0
    X = np.zeros((USERS, ITEMS))
    X[own.users, own.items] = 1
    counts = X.sum(0)
    assert counts.min() > 0.05 * counts.mean()
    expected = np.outer(counts, counts) / USERS * similarity_by_hand(KIND)
    ridge = counts.mean() * 2 ** (fitted.tuning.step / 2)
    inverse = np.linalg.inv(X.T @ X + fitted.tuning.prior * expected + ridge * np.eye(ITEMS))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    assert fitted.weights.between == pytest.approx(weights, abs=1e-5)


def test_weights_from_noise_alone_are_those_of_the_prior():
    """Moments of which nothing exceeds the noise leave w E, as in the closed form of it alone."""
    counts = np.linspace(20, 60, ITEMS)
    moments = CoOccurrence(np.diag(counts), edge=1e6, people=USERS, variance=0.0)
    similarity = item_similarity(
        item_features(genres(KIND), world(np.ones((1, ITEMS))).item_ids), ITEMS
    )
    tuning = Tuning(1, 1.0, device=Blend(0.0, 1.0), provider=Blend(0.0, 1.0), step=2, prior=3.0)
    weights = shrunk(moments, tuning, similarity)[0]
    expected = 3 * np.outer(counts, counts) / USERS * similarity_by_hand(KIND)
    inverse = np.linalg.inv(expected + counts.mean() * 2 * np.eye(ITEMS))
    by_hand = -inverse / np.diag(inverse)
    found = weights.rows(range(ITEMS))
    off = ~np.eye(ITEMS, dtype=bool)
    assert found[off] == pytest.approx(by_hand[off], abs=1e-5)


@pytest.mark.parametrize("epsilon", ["3", None])
def test_lists_of_few_users_are_better_with_features(few, epsilon):
    """Over ten seeds the gains are .28 with a deviation of .065, and .09 with one of .013."""
    data = few[0]
    if epsilon:
        channel = compile_channel(
            "randomized-response", epsilon=epsilon, scale=RatingScale.parse("there"), missing=True
        )
        data = perturb(data, Catalogue(channel), words=RepeatableWordsForTestsOnly(1))
    plain, better = fit("ease", data), fit("ease", data, item_table=genres(KIND))
    assert better.tuning.prior > 0
    assert hits(better, few) > hits(plain, few) + 0.03


def test_a_search_ends_if_held_out_users_lose_by_all_weights():
    """Items that go together among the users of a fit, and apart among those held out."""
    diagonal = 40 * np.eye(ITEMS)
    known = CoOccurrence(diagonal + 30, edge=1.0, people=USERS, variance=0.0)
    held = CoOccurrence(diagonal - 5, edge=1.0, people=USERS, variance=0.0)
    ids = world(np.ones((1, ITEMS))).item_ids
    similarity = item_similarity(item_features(genres(KIND), ids), ITEMS)
    choice = ease_from_reports._chosen(known, held, similarity)
    assert choice.loss > held.counts.sum()
    assert retained(least=5.0, without=4.0) == 5
    assert retained(least=4.0, without=5.0) == pytest.approx(4.01)


def test_a_ridge_leaves_no_weight_to_choose():
    with pytest.raises(RequestError, match=r"A ridge excludes item_table"):
        EASE(ridge=5, item_table=genres(KIND))


def test_a_choice_without_features_is_not_reused_with_them(few):
    plain = fit("ease", few[0])
    warm = EASE(warm=plain, item_table=genres(KIND)).fit(interactions(few[0]))
    again = EASE(warm=warm, item_table=genres(KIND)).fit(interactions(few[0]))
    assert warm.tuning.prior > 0
    assert again.tuning == warm.tuning
    assert EASE(warm=warm).fit(interactions(few[0])).tuning == plain.tuning
