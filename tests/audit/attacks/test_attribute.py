"""Attribute: a column that ratings tell is told, one that they do not is not."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tacit.audit.attacks.attribute import Attribute, columns, presence, stars
from tacit.audit.attacks.world import World
from tacit.errors import RequestError
from tacit.readers import synthetic


def described(people, seed):
    """Of the made-up people: who rated much of the first half, who rates well, and a coin."""
    users, items = people.users, people.items
    first = np.bincount(users, items < 100, 300) / np.bincount(users, minlength=300)
    means = np.bincount(people.items, people.levels, 200) / np.maximum(
        1, np.bincount(people.items, minlength=200)
    )
    above = np.bincount(users, people.levels - means[people.items], 300)
    coin = np.random.default_rng(seed).random(300) < 0.5
    return pl.DataFrame(
        {
            "user": people.user_ids.ids.cast(pl.String),
            "taste": np.where(first > np.median(first), "first", "second"),
            "mild": above > np.median(above),
            "coin": coin,
            "age": np.random.default_rng(seed + 1).integers(0, 90, 300),
            "name": [f"n{code}" for code in range(300)],
        }
    )


@pytest.fixture(scope="session")
def table(people):
    return described(people, 8)


@pytest.fixture(scope="session")
def samples():
    """Eight samples of people with many ratings, and their tables."""
    drawn = [synthetic(300, 200, 25_000, rng=seed) for seed in range(20, 28)]
    return [(people, described(people, 2 * seed)) for seed, people in enumerate(drawn)]


def areas(world, **settings):
    """Its figures by column and by what the attacker had."""
    return {tuple(found.setting.split(", ")): found for found in Attribute(**settings).run(world)}


def test_what_ratings_tell_is_told_and_what_they_do_not_is_not(samples):
    runs = [areas(World.unprotected(people, "rated", 0, table)) for people, table in samples]
    means = {each: np.mean([run[each].value for run in runs]) for each in runs[0]}
    assert means["taste", "presence alone"] > 0.75
    assert means["mild", "all that came"] > 0.75
    assert means["mild", "presence alone"] < 0.65
    for column in ("coin", "age"):
        for setting in ("all that came", "presence alone"):
            # Folds of the same people depend: the deviation of a sample is up to 1.7 errors, so
            # that three of its errors are five deviations of the mean of eight samples.
            error = runs[0][column, setting].error
            assert abs(means[column, setting] - 0.5) < 3 * error, (column, setting)
    assert {column for column, _ in means} == {"taste", "mild", "coin", "age"}


def test_noise_hides_it_and_less_noise_hides_less(samples, world):
    """Means of eight samples, of which each has a deviation of .06 or less."""

    def area(people, table, epsilon):
        seen = replace(world("catalogue", epsilon, ratings=people), people=table)
        return areas(seen)["taste", "presence alone"].value

    columns = [(people, table.select("user", "taste")) for people, table in samples]
    taste = [np.mean([area(*each, epsilon) for each in columns]) for epsilon in ("0.01", "3", "6")]
    assert taste == sorted(taste)
    assert taste[0] < 0.65 < 0.75 < taste[2]


@pytest.mark.long
def test_over_many_coins_the_area_is_a_half(people):
    """Nothing of the people who are asked about is learnt from, nor is the ridge chosen on them."""
    chance = np.random.default_rng(3)
    coins = {f"coin{n}": chance.random(300) < 0.3 for n in range(40)}
    table = pl.DataFrame({"user": people.user_ids.ids, **coins})
    found = areas(World.unprotected(people, "rated", 0, table))
    told = [f.value for (_, setting), f in found.items() if setting == "all that came"]
    assert len(told) == 40
    assert abs(np.mean(told) - 0.5) < 4 * np.std(told) / np.sqrt(40)


def test_expected_features_by_hand(world):
    """P(rated | column) and the mean above the item's, from the table and the shares alone."""
    seen = world("catalogue", "1")
    few = np.array([3, 7], np.int32)
    known, above = presence(seen, few), stars(seen, few)
    values = np.arange(1.0, 6)
    for row, person in enumerate(few):
        for item in (0, 11, 150):
            column = seen.columns[person, item]
            joint = seen.shares[item] * seen.likelihood[:, column]
            mean = (seen.star_shares[item] * values).sum()
            expected = (joint[1:] * (values - mean)).sum() / joint.sum()
            assert known[row, item] == pytest.approx(joint[1:].sum() / joint.sum(), abs=1e-6)
            assert above[row, item] == pytest.approx(expected, abs=1e-6)


def test_without_a_table_nothing_is_told(world):
    assert Attribute().run(world("rated", "1")) == []


def test_people_who_are_not_in_the_table_are_left_out(people, table):
    found = areas(World.unprotected(people, "rated", 0, table.head(200)))
    assert {f.count for f in found.values()} == {200}


def test_of_many_people_some_are_drawn(people, table):
    found = areas(World.unprotected(people, "rated", 0, table), most_people=120)
    assert {f.count for f in found.values()} == {120}


@pytest.mark.parametrize("settings", [{"most_values": 1}, {"most_people": 39}])
def test_settings_that_tell_nothing_are_refused(settings):
    with pytest.raises(RequestError, match=str(next(iter(settings.values())))):
        Attribute(**settings)


def test_a_user_that_occurs_twice_is_refused(people, table):
    """Otherwise the labels of all later users would move by one row."""
    twice = pl.concat([table, table.head(1)])
    with pytest.raises(RequestError, match="occurs twice in the user table"):
        areas(World.unprotected(people, "rated", 0, twice))
    strangers = pl.concat([table, table.head(1).with_columns(user=pl.lit("x"))])
    more = pl.concat([strangers, strangers.tail(1)])  # of users without ratings
    alone = areas(World.unprotected(people, "rated", 0, table))
    assert areas(World.unprotected(people, "rated", 0, more)) == alone


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.col("user").alias("id"), "must have a column user and .*, got id, taste"),
        (("u" + pl.col("user")).alias("user"), "None of the 300 users in the user table"),
    ],
)
def test_a_table_of_no_users_is_refused(people, table, change, message):
    other = table.select(change, pl.exclude("user"))
    with pytest.raises(RequestError, match=message):
        areas(World.unprotected(people, "rated", 0, other))


def test_ids_of_both_types_are_those_of_the_same_users(people, table):
    numbers = table.with_columns(pl.col("user").cast(pl.Int16)).reverse()
    expected = columns(table, people.user_ids.ids, 30)
    for name, labels in columns(numbers, people.user_ids.ids, 30).items():
        assert np.array_equal(labels, expected[name], equal_nan=True)
