"""User-level trainers accept data without ratings: an error would reveal that nobody rated."""

import numpy as np
import polars as pl
import pytest

from tacit.errors import DataError, RequestError
from tacit.ratings import Ratings
from tacit.readers import read
from tacit.scale import RatingScale
from tacit.training import LIST_TRAININGS, STRICT_TRAININGS, unit
from tacit.training.person.covariance import DPCovariance
from tacit.training.person.dpals import DPALS
from tacit.training.pg_mf import PGMF
from tacit.vocabulary import Vocabulary

TRAINERS = {
    name: trainer
    for registry in (STRICT_TRAININGS, LIST_TRAININGS)
    for name, trainer in registry.items()
    if unit(name) == "user"
} | {"pg-mf": PGMF(rounds=8)}
WITH_FACTORS = {
    f"{type(one).__name__} of 2": one
    for one in (DPALS(factors=2), DPCovariance(factors=2), PGMF(factors=2, rounds=8))
}


def rated(users, items, *, rows):
    """Declared users and items; the first user has rated so many items, and nobody else any."""
    return Ratings(
        np.zeros(rows, np.int32), np.arange(rows, dtype=np.int32), np.full(rows, 4, np.uint8),
        RatingScale.parse("1:5:1"), Vocabulary(pl.Series("id", range(users))),
        Vocabulary(pl.Series("id", range(items))), undeclared=frozenset(),
    )  # fmt: skip


def test_every_user_level_trainer_is_tried():
    assert {"dpals", "dp-covariance", "pg-mf", "dp-ease", "dp-popularity"} <= set(TRAINERS)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("size", [(1, 1), (40, 30), (3000, 150)])
@pytest.mark.parametrize("name", [*TRAINERS, *WITH_FACTORS])
def test_trainers_learn_from_no_ratings_as_from_a_single_users(name, size):
    trainer = (TRAINERS | WITH_FACTORS)[name]
    without, with_one = (
        trainer.fit(rated(*size, rows=rows), epsilon="2") for rows in (0, min(size[1], 20))
    )
    assert without.guarantee == with_one.guarantee
    assert len(without.item_ids) == len(with_one.item_ids)
    if hasattr(without, "items"):
        assert np.isfinite(without.items).all()


def test_a_file_without_ratings_is_read_where_everything_is_declared(tmp_path):
    """An error would distinguish the data from their neighbour with one user."""
    file, said = tmp_path / "ratings.csv", []
    file.write_text("user,item,rating\n")
    declared = {"catalogue": [1, 2, 3], "people": ["a", "b"], "scale": "1:5:1"}
    found = read(file, **declared, notify=said.append)
    assert (len(found), found.n_users, found.n_items) == (0, 2, 3)
    assert found.undeclared == frozenset()
    assert "the data contain no rating" in said[0]
    assert DPALS(factors=2).fit(found, epsilon="2").guarantee.unit == "user"
    for name in declared:
        with pytest.raises(DataError, match="contains no ratings"):
            read(file, **{**declared, name: None})


@pytest.mark.parametrize("name", TRAINERS)
def test_no_users_or_no_items_are_refused(name):
    for users, items, what in ((0, 5, "users"), (5, 0, "items")):
        with pytest.raises(RequestError, match=f"{what} must contain at least 1 id, got 0"):
            TRAINERS[name].fit(rated(users, items, rows=0), epsilon="2")
