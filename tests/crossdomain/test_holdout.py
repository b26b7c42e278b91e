"""What is hidden, that it is hidden whole, and what a sweep changes and leaves."""

import itertools

import numpy as np
import polars as pl
import pytest

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import Predicted, score
from tacit.errors import RequestError
from tacit.readers import from_frame
from tacit.scale import RatingScale

SCALE = RatingScale.parse("1:5:1")


def part(name, rows):
    frame = pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")
    return from_frame(frame, scale="1:5:1", name=name)


def cells(ratings):
    return set(ratings.to_polars().select("user", "item", "rating").iter_rows())


def asked(hidden):
    ratings = hidden.trial.domains.ratings
    users = ratings.user_ids.take(hidden.trial.users).to_list()
    items = ratings.item_ids.take(hidden.trial.items).to_list()
    return set(zip(users, items, hidden.values.tolist(), strict=True))


def test_all_ratings_are_either_known_or_hidden(domains):
    hidden = Holdout(keep=2).hide(domains, 1, seed=3)
    known = cells(hidden.trial.domains.ratings)
    assert known.isdisjoint(asked(hidden))
    assert known | asked(hidden) == cells(domains.ratings)
    assert set(domains.of_item[hidden.trial.items]) == {1}


def test_a_tested_person_keeps_the_source_and_as_many_target_ratings_as_said(domains):
    shared = domains.straddlers(1)
    for keep in (0, 3):
        trial = Holdout(keep=keep).hide(domains, 1, seed=1).trial
        assert len(trial.people) == round(0.2 * len(shared))
        known = trial.domains.ratings
        left = np.bincount(known.users[trial.in_target], minlength=known.n_users)
        assert (left[trial.people] == keep).all()
        before = np.bincount(domains.ratings.users[domains.rows(0)], minlength=known.n_users)
        after = np.bincount(known.users[~trial.in_target], minlength=known.n_users)
        assert (before == after).all()


def test_tested_people_are_those_anybody_would_draw(domains):
    rng = np.random.default_rng(7)
    shared = domains.straddlers(0)
    expected = np.sort(rng.permutation(shared)[: round(0.2 * len(shared))])
    assert Holdout().hide(domains, 0, seed=7).trial.people.tolist() == expected.tolist()


def test_sweeps_are_nested(domains):
    asks = [asked(Holdout(keep=keep).hide(domains, 1, seed=2)) for keep in range(4)]
    assert all(more < less for less, more in itertools.pairwise(asks))
    links = [linked(domains, share) for share in (0.0, 0.3, 0.7, 1.0)]
    assert not links[0]
    assert all(few < many for few, many in itertools.pairwise(links))


def linked(domains, share):
    trial = Holdout(overlap=share).hide(domains, 1, seed=2).trial
    return set(trial.domains.straddlers(1).tolist())


@pytest.mark.parametrize("word", [False, True])
def test_a_person_without_a_link_is_two_people_and_no_rating_is_lost(domains, word):
    if word:
        parts = [domains.where(domains.rows(d)).ratings.to_polars() for d in range(2)]
        named = [part.with_columns(user=pl.col("user").cast(pl.String)) for part in parts]
        domains = Domains.join(
            [from_frame(f, scale="1:5:1", name=n) for f, n in zip(named, "ab", strict=True)]
        )
    whole = Holdout().hide(domains, 1, seed=4).trial.domains.ratings
    parted = Holdout(overlap=0.25).hide(domains, 1, seed=4).trial.domains
    ratings = parted.ratings
    shared = len(domains.straddlers(1))
    others = shared - round(0.2 * shared)
    assert ratings.n_users - whole.n_users == others - round(0.25 * others)
    assert ratings.user_ids.ids.n_unique() == ratings.n_users
    assert (ratings.items == whole.items).all()
    assert (ratings.levels == whole.levels).all()
    moved = ratings.users >= whole.n_users
    assert (ratings.users[~moved] == whole.users[~moved]).all()
    assert not (moved & parted.rows(1)).any()
    # Each new person has the source ratings of one that has none left there.
    pairs = set(zip(ratings.users[moved].tolist(), whole.users[moved].tolist(), strict=True))
    assert len(pairs) == ratings.n_users - whole.n_users
    assert not parted.members(0)[[old for _, old in pairs]].any()


def test_odd_domains_work_or_explain_themselves():
    apart = Domains.join([part("a", [(1, 1, 5), (2, 1, 4)]), part("b", [(3, 2, 5)])])
    with pytest.raises(RequestError, match="No user rated both in b and in a"):
        Holdout().hide(apart, 1, seed=0)
    one = Domains.join([part("a", [(1, 1, 5), (2, 1, 4)]), part("b", [(1, 2, 3), (3, 2, 2)])])
    hidden = Holdout().hide(one, 1, seed=0)
    assert asked(hidden) == {(1, 2, 3.0)}
    with pytest.raises(RequestError, match="more than 1 ratings in b"):
        Holdout(keep=1).hide(one, 1, seed=0)
    three = Domains.join(
        [part("a", [(1, 1, 5)]), part("c", [(2, 3, 4)]), part("b", [(1, 2, 3), (2, 2, 2)])]
    )
    assert three.straddlers(2).tolist() == [0, 1]


@pytest.mark.parametrize("odd", [{"test_share": 0}, {"overlap": 1.5}, {"keep": -1}])
def test_figures_that_are_none_are_refused(odd):
    with pytest.raises(RequestError):
        Holdout(**odd)


def test_scores_by_hand():
    told = Predicted(np.array([2.5, 6.0, 3.4, 0.0]), np.array([True, True, True, False]))
    found = score(np.array([2, 5, 4, 1], np.float32), told, SCALE)
    assert found.mae == pytest.approx((0.5 + 0 + 0.6 + 0) / 4)
    assert found.mae_rounded == pytest.approx((1 + 0 + 1 + 0) / 4)
    assert found.coverage == 0.75
    with pytest.raises(RequestError, match="non-finite"):
        score(np.ones(1, np.float32), Predicted(np.array([np.nan]), np.array([True])), SCALE)
