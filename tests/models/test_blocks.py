"""Reports on blocks that not every user has answered: an item counts by the fraction of its block.

A tenth of the users has answered the last of three blocks. By one fraction for all items, those of
this block would seem a fifth as popular as they are.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from tacit.channels import compile_channel
from tacit.collection.plans import Sample
from tacit.engines.engine import Local
from tacit.engines.tables import InMemory
from tacit.errors import RequestError
from tacit.learners import fit
from tacit.models.evidence.evidence import evidence
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.slot_reports import decode
from tacit.models.lists.co_occurrence import (
    co_occurrence,
    exact_block_factors,
    pair_sums,
    sampled_together,
)
from tacit.models.lists.interactions import presence_of
from tacit.models.lists.item_weights import ItemWeights
from tacit.models.lists.list_file import ListParts, from_arrays, to_arrays
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

USERS, BLOCKS = 2000, np.repeat(np.arange(3, dtype=np.int32), 4)
P, Q = 0.8, 0.25


def queried_slots(chance):
    """Half of each block, of all users, half of them, and a tenth; shape (users, items)."""
    answered = chance.random((USERS, 3)) < (1, 0.5, 0.1)
    return (chance.random((USERS, 12)) < 0.5) & answered[:, BLOCKS]


def presence_matrix(rated, chance):
    queried = queried_slots(chance)
    reported = queried & (chance.random(rated.shape) < np.where(rated, P, Q))
    sides = np.full(USERS, P), np.full(USERS, Q)
    matrices = [csr_array(each.astype(np.int8)) for each in (reported, queried)]
    return PresenceMatrix(matrices[0], *sides, matrices[1], blocks=BLOCKS)


@pytest.fixture
def chance():
    return np.random.default_rng(11)


@pytest.fixture
def rated(chance):
    """Popular and rare items in every block, rated together in twos."""
    share = np.tile([0.6, 0.3, 0.2, 0.1], 3)
    return chance.random((USERS, 12)) < share * np.where(chance.random((USERS, 1)) < 0.5, 1.5, 0.5)


def z_of(estimates, truth):
    """Deviation of the mean of estimates in standard errors."""
    errors = np.array(estimates) - truth
    return errors.mean(0) / (errors.std(0, ddof=1) / np.sqrt(len(errors)))


def test_popularity_is_unbiased_in_every_block(rated, chance):
    truth = rated.sum(0)
    matrices = [presence_matrix(rated, chance) for _ in range(60)]
    estimates = [each.over_people(np.ones(USERS)) for each in matrices]
    assert np.abs(z_of(estimates, truth)).max() < 4.5
    one = [replace(each, blocks=None).over_people(np.ones(USERS)) for each in matrices]
    assert np.abs(z_of(one, truth)[8:]).min() > 10


def test_products_equal_those_with_all_cells(rated, chance):
    matrix = presence_matrix(rated, chance)
    queried = matrix.asked.toarray().astype(bool)
    fraction = np.array([queried[:, block == BLOCKS].mean() for block in range(3)])[BLOCKS]
    cells = np.where(queried, matrix.reported.toarray() - Q, 0) / ((P - Q) * fraction)
    x, y = chance.random((12, 2)), chance.random((USERS, 2))
    assert matrix.over_items(x) == pytest.approx(cells @ x)
    assert matrix.over_people(y) == pytest.approx(cells.T @ y)
    assert matrix.squares_over_items(x[:, 0]) == pytest.approx(cells**2 @ x[:, 0])
    assert matrix.dense(slice(0, USERS)) == pytest.approx(cells, abs=1e-5)
    some = chance.random(USERS) < 0.5
    by_block = np.array([queried[some][:, block == BLOCKS].mean() for block in range(3)])
    assert matrix.where(some).lift == pytest.approx((queried[some].mean() / by_block)[BLOCKS])


def test_co_occurrence_is_unbiased_per_pair_of_blocks(rated, chance):
    truth = rated.astype(float).T @ rated
    pairs = ~np.eye(12, dtype=bool)
    exact, plain = [], []
    for _ in range(80):
        matrix = presence_matrix(rated, chance)
        sums = pair_sums(matrix, Local(), InMemory())
        exact.append((sums * exact_block_factors(matrix)[np.ix_(BLOCKS, BLOCKS)])[pairs])
        plain.append((sums / sampled_together(matrix))[pairs])
    assert np.abs(z_of(exact, truth[pairs])).max() < 5
    assert np.abs(z_of(plain, truth[pairs])).max() > 20


def test_one_block_is_the_sample_of_k(chance):
    """K of n slots per user without replacement: b of the plan sample:K."""
    queried = chance.permuted(np.tile(np.arange(12) < 5, (USERS, 1)), axis=1)
    matrix = PresenceMatrix(
        csr_array((0 * queried).astype(np.int8)), np.full(USERS, P), np.full(USERS, Q),
        csr_array(queried.astype(np.int8)), blocks=np.zeros(12, np.int32),
    )  # fmt: skip
    assert exact_block_factors(matrix) == pytest.approx(1 / sampled_together(matrix))
    assert matrix.lift == pytest.approx(np.ones(12))


def test_pairs_with_more_noise_are_damped_to_the_noise_of_the_others(rated, chance):
    """The noise that the spectral edge assumes is not exceeded in any pair of blocks."""
    grams = []
    for _ in range(60):
        matrix = presence_matrix(np.zeros_like(rated), chance)
        grams.append(co_occurrence(matrix, Local(), InMemory()).gram)
    deviations = np.std(grams, axis=0)
    by_block = [
        np.sqrt(np.mean(deviations[np.ix_(a == BLOCKS, b == BLOCKS)][~np.eye(4, dtype=bool)] ** 2))
        for a in range(3)
        for b in range(3)
    ]
    assert max(by_block[1:]) < 1.4 * np.median(by_block)


def test_a_block_without_answers_counts_nothing(rated, chance):
    matrix = presence_matrix(rated, chance)
    queried = matrix.asked.toarray()
    queried[:, BLOCKS == 2] = 0
    none = replace(
        matrix, asked=csr_array(queried), reported=csr_array(matrix.reported.toarray() * queried)
    )
    assert (none.lift[BLOCKS == 2] == 0).all()
    assert (none.over_people(np.ones(USERS))[BLOCKS == 2] == 0).all()
    gram = co_occurrence(none, Local(), InMemory()).gram
    assert np.isfinite(gram).all()
    assert (gram[BLOCKS == 2] == 0).all()


def test_a_list_file_keeps_blocks(rated, chance):
    matrix = presence_matrix(rated, chance)
    parts = ListParts(matrix, ItemWeights(popularity=np.ones(12, np.float32)), None)
    again = from_arrays(to_arrays(parts), matrix.shape).presence
    assert (again.blocks == BLOCKS).all()
    assert again.lift.tobytes() == matrix.lift.tobytes()


@pytest.fixture
def reports(chance):
    """Makes reports of stars on the blocks: 3, or 4 on every second item."""
    scale = RatingScale.parse("1:5:1")
    channel = compile_channel("randomized-response", epsilon="3", scale=scale, missing=True)
    table = np.array(channel.likelihood)

    def made(rows):
        queried = queried_slots(chance)
        users, items = (codes.astype(np.int32) for codes in np.nonzero(queried))
        words = chance.random(len(users))[:, None]
        symbols = (words > np.cumsum(table[rows[users, items]], 1)[:, :-1]).sum(1)
        ids = (Vocabulary.of(pl.Series("id", np.arange(size)))[0] for size in rows.shape)
        return Reports(
            users=users, items=items, symbols=symbols.astype(np.uint8),
            channel_of=np.zeros(len(users), np.uint8), channels=(channel,), scale=scale,
            user_ids=next(ids), item_ids=next(ids), guarantee=Sample(channel, 6).guarantee,
            plan="sample:6", blocks=BLOCKS,
        )  # fmt: skip

    return made


def test_blocks_have_one_number_per_item(rated, reports):
    known = reports(np.where(rated, 4, 0))
    with pytest.raises(RequestError, match="one number per item, 12, got 11"):
        replace(known, blocks=BLOCKS[1:])


def test_sums_of_ratings_are_unbiased_in_every_block(rated, reports, chance):
    rows = np.where(rated, np.where(np.arange(12) % 2, 4, 3), 0)
    truth = (np.where(rated, rows - 3.0, 0)).sum(0)
    sums = []
    for _ in range(60):
        known = evidence(reports(rows))
        sums.append(np.bincount(known.item_of, decode(known).values, 12))
    assert np.abs(z_of(sums, truth)).max() < 4.5


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", ["popularity", "ease", "graph-filter", "item-mean", "bias", "mf"])
def test_every_model_of_a_growing_catalogue_fits(model, rated, reports):
    """Popularity counts each block by its own users, and no model fails."""
    known = reports(np.where(rated, 4, 0))
    fitted = fit(model, known)
    if model == "popularity":
        counts = presence_of(known).over_people(np.ones(USERS))
        assert fitted.weights.popularity == pytest.approx(counts, rel=1e-5)
        one = presence_of(replace(known, blocks=None)).over_people(np.ones(USERS))
        assert (counts[8:] > 3 * one[8:]).all()
    else:
        assert len(fitted.recommend(0, n=3)) == 3
