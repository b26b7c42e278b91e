"""What reports say of pairs of items: unbiased, with noise of the size that is claimed."""

import numpy as np
import pytest
from lists_world import renamed, world
from scipy.sparse import csr_array

from tacit import fit
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue, Sample
from tacit.engines.engine import Local
from tacit.engines.tables import InMemory
from tacit.errors import RequestError
from tacit.metrics.lists import list_figures
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists import EASE, GraphFilter, ease_from_reports, interactions
from tacit.models.lists.co_occurrence import CoOccurrence, co_occurrence, pair_sums
from tacit.models.lists.denoised import (
    CoOccurrenceSpectrum,
    ScaledPresence,
    emphasised,
    leading_items,
    spectrum,
    widened,
)
from tacit.models.lists.ease_from_reports import EMPHASES
from tacit.models.lists.ease_solution import LowRankSolution
from tacit.scale import RatingScale

ONE = RatingScale.parse("there")
ITEMS, DRAWS = 20, 100


def plans(epsilon="1"):
    channel = compile_channel("randomized-response", epsilon=epsilon, scale=ONE, missing=True)
    return {"catalogue": Catalogue(channel), "sample": Sample(channel, 6)}


def moments(presence: PresenceMatrix) -> CoOccurrence:
    """In this process."""
    return co_occurrence(presence, Local(), InMemory())


def entries(directions):
    """W without its diagonal, shape (items, items)."""
    W = directions.left_factors @ directions.of_items.T
    np.fill_diagonal(W, 0)
    return W


def laid_out(presence: PresenceMatrix) -> np.ndarray:
    """C, shape (people, items)."""
    return presence.over_items(np.eye(presence.shape[1]))


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_second_moments_are_those_of_the_rows_whatever_channels_people_have(share, blocks):
    """Three kinds of channels in any order, few or many slots asked about, in blocks of items."""
    rng, kind = np.random.default_rng(4), np.random.default_rng(5).integers(0, 3, 200)
    asked = rng.random((200, ITEMS)) < share
    reported = csr_array((asked & (rng.random(asked.shape) < 0.5)).astype(float))
    rates = np.array([[1, 0], [0.8, 0.1], [0.6, 0.3]])[kind]
    told = PresenceMatrix(
        reported, *rates.T, None if share == 1 else csr_array(asked.astype(float))
    )
    C = laid_out(told)
    assert pair_sums(told, Local(blocks), InMemory()) == pytest.approx(C.T @ C, rel=1e-9, abs=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_second_moments_are_unbiased_and_their_noise_is_as_large_as_said(table, plan):
    """200 draws: all entries' mean within 5 sd, each within 6; the deviation of all within a tenth.

    The noise of 210 entries has longer tails than a normal's: at 5 sd one run in a thousand fails.
    6 sd of 200 draws are less than 5 of 100.
    """
    asked, draws = plans()[plan], 2 * DRAWS
    others = renamed(world(table), draws)  # asked about other slots
    found = [moments(interactions(perturb(own, asked)).presence) for own in others]
    grams = np.array([one.gram for one in found])
    spread, sums = grams.std(0, ddof=1), grams.sum((1, 2))
    true = table.T @ table
    assert (abs(grams.mean(0) - true) < 6 * spread / np.sqrt(draws)).all()
    assert abs(sums.mean() - true.sum()) < 5 * sums.std(ddof=1) / np.sqrt(draws)
    off = ~np.eye(ITEMS, dtype=bool)
    entry = np.mean([one.edge for one in found]) / (2 * np.sqrt(ITEMS))
    assert entry == pytest.approx(np.sqrt((spread[off] ** 2).mean()), rel=0.1)


def test_of_two_slots_a_person_every_pair_is_counted_as_often_as_it_is_asked(table):
    """All pairs' sum over 100 draws, within 5 sd; without b it is 8 sd too small."""
    channel = compile_channel("randomized-response", epsilon="6", scale=ONE, missing=True)
    others = renamed(world(table), DRAWS)
    found = [moments(interactions(perturb(own, Sample(channel, 2))).presence) for own in others]
    pairs = np.array([one.gram.sum() - np.trace(one.gram) for one in found])
    true = table.T @ table
    expected = true.sum() - np.trace(true)
    error = pairs.std(ddof=1) / np.sqrt(DRAWS)
    assert abs(pairs.mean() - expected) < 5 * error < 0.4 * expected


@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_of_two_sets_of_people_moments_are_added_and_noise_as_independent(own, plan):
    presence = interactions(perturb(own, plans()[plan])).presence
    some = np.arange(own.n_users) % 3 == 0
    both = moments(presence.where(some)) + moments(presence.where(~some))
    whole = moments(presence)
    assert both.gram == pytest.approx(whole.gram, abs=1e-3)
    assert both.edge == pytest.approx(whole.edge, rel=0.1)  # their sum is 1.4 times as much


@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_popularity_from_reports_is_debiased(own, plan):
    """Items that fewer people happened to be asked about are no less popular for that."""
    reports = perturb(own, plans()[plan])
    C = laid_out(interactions(reports).presence)
    counts = fit("popularity", reports).weights.popularity
    assert counts == pytest.approx(C.sum(0), abs=1e-3)


def test_a_graph_filter_of_reports_keeps_directions_alone(own):
    """The linear term would be of pairs that noise made up."""
    fitted = fit("graph-filter", perturb(own, plans("4")["catalogue"]))
    assert fitted.weights.between is None
    assert fit("graph-filter", own).weights.between is not None


def test_without_noise_they_are_the_counts_themselves(own, table):
    found = moments(interactions(own).presence)
    assert found.gram == pytest.approx(table.T @ table)
    assert found.edge == 0


def test_noise_alone_has_hardly_a_direction():
    """Nobody has more than one of 80 items: in 30 draws 0 to 2 directions, at most .48 of the
    edge."""
    alone = np.zeros((3000, 80))
    alone[np.arange(3000), np.arange(3000) % 80] = 1
    found = moments(interactions(perturb(world(alone), plans("0.5")["catalogue"])).presence)
    values = (spectrum(found.gram, found.edge).denoised(found.edge) ** 2).sum(0)
    assert len(values) <= 5
    assert (values < 0.8 * found.edge).all()


def test_the_edge_of_weighted_noise_is_where_its_spectrum_ends():
    """1,000 items, 300 of them four times as heavy: the mean of four draws' largest eigenvalues.

    The edge is that of infinitely many items; of 1,000 a draw's largest eigenvalue is .021 below
    it, with a deviation of .013 (12 draws), .0064 of four draws' mean.
    """
    chance = np.random.default_rng(0)
    weights = np.where(np.arange(1000) < 300, 2.0, 0.5)
    largest = []
    for _ in range(4):
        noise = chance.standard_normal((1000, 1000))
        noise = weights[:, None] * (noise + noise.T) / np.sqrt(2) * weights
        largest.append(np.linalg.eigvalsh(noise)[-1] / (2 * np.sqrt(1000)))
    assert -0.01 < widened(weights) / np.mean(largest) - 1 < 0.05
    assert widened(np.ones(1000)) == pytest.approx(1, abs=1e-6)
    assert widened(weights * 3) == pytest.approx(9 * widened(weights), rel=1e-6)


@pytest.mark.parametrize("emphasis", [0.0, 0.25])
def test_what_stands_out_of_the_noise_is_shrunk(own, emphasis):
    """As a twin of it laid out: eigenvalues e of W G W beyond the edge become sqrt(e^2 - edge^2),
    and the weights are taken off again."""
    found = moments(interactions(perturb(own, plans("4")["catalogue"])).presence)
    counts = np.diag(found.gram)
    heavy = np.diag([max(count / max(counts.mean(), 1), 0.05) ** emphasis for count in counts])
    assert np.diag(heavy) == pytest.approx(emphasised(counts, emphasis))
    edge = found.edge * widened(np.diag(heavy))
    values, vectors = np.linalg.eigh(heavy @ found.gram @ heavy)
    expected = sum(
        np.sqrt(e**2 - edge**2) * np.outer(v, v)
        for e, v in zip(values, vectors.T, strict=True)
        if e > edge
    )
    light = np.linalg.inv(heavy)
    factors = spectrum(found.gram, found.edge, emphasis).denoised(found.edge)
    assert factors @ factors.T == pytest.approx(light @ expected @ light, rel=1e-6, abs=1e-6)


def test_the_emphasis_and_ridge_are_those_of_least_error_on_held_out_users():
    """Eight draws at .5 nats a slot, at which either emphasis is chosen about as often: every ridge
    and emphasis in turn, by the squared error of one user in five."""
    chance = np.random.default_rng(1)
    taste = chance.integers(0, 3, 1500)
    likes = np.where(np.arange(60) % 3 == taste[:, None], 1.6, 0.5) * np.geomspace(0.6, 0.02, 60)
    own = world(chance.random((1500, 60)) < likes)
    held = np.random.default_rng(0).permutation(1500) % 5 == 0

    def weights(of, step, emphasis):
        factors = spectrum(of.gram, of.edge, emphasis).denoised(of.edge)
        ridge = np.trace(of.gram) / 60 * 2 ** (step / 2)
        return entries(LowRankSolution.of(factors, ridge).directions())

    for _ in range(8):
        data = interactions(perturb(own, plans("0.5")["catalogue"]))
        known, other = (moments(data.presence.where(some)) for some in (~held, held))

        def loss(emphasis, step, known=known, other=other):
            wrong = np.eye(60) - weights(known, step, emphasis)
            return np.trace(wrong.T @ other.gram @ wrong)

        least = {e: min(loss(e, step) for step in range(-20, 21)) for e in EMPHASES}
        best = min(least, key=least.__getitem__)
        bound = least[best] + 0.01 * (np.trace(other.gram) - least[best])
        step = min(step for step in range(-20, 21) if loss(best, step) <= bound)
        directions = EASE().fit(data).weights.directions
        if directions is not None:  # not shrunk to popularity alone
            between = entries(directions)
            expected = weights(known + other, step, best)
            multiple = (between * expected).sum() / (expected**2).sum()
            assert between == pytest.approx(multiple * expected, abs=1e-5)


@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_directions_are_those_of_the_matrix_laid_out(own, plan):
    presence = interactions(perturb(own, plans("3")[plan])).presence
    people, items = (degree**-0.5 for degree in presence.degrees)
    C = laid_out(presence) * np.outer(people, items)
    vectors, values = leading_items(ScaledPresence(presence, people, items), 3)
    assert values == pytest.approx(np.linalg.svd(C)[1][:3], rel=1e-4)
    assert np.linalg.norm(C @ vectors, axis=0) == pytest.approx(values, rel=1e-4)


@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_both_products_are_of_one_matrix(own, plan):
    """y' (B x) = (B' y)' x, to the digits of singles."""
    presence = interactions(perturb(own, plans()[plan])).presence
    people, items = (degree**-0.5 for degree in presence.degrees)
    scaled, chance = ScaledPresence(presence, people, items), np.random.default_rng(0)
    x = chance.standard_normal((ITEMS, 3), np.float32)
    y = chance.standard_normal((own.n_users, 3), np.float32)
    assert y.T @ scaled.over_items(x) == pytest.approx(scaled.over_people(y).T @ x, abs=1e-4)


def test_the_provider_scores_debiased_rows(own):
    fitted = EASE(ridge=9).fit(interactions(perturb(own, plans("5")["sample"])))
    C = laid_out(fitted.presence)
    scores = C @ entries(fitted.weights.directions)
    lists = fitted.lists(own, 3, where="provider")
    for u in range(own.n_users):
        assert scores[u, lists[u]] == pytest.approx(np.sort(scores[u])[::-1][:3], abs=1e-4)


@pytest.mark.parametrize("ridge", [None, 9.0])
def test_where_nothing_exceeds_the_noise_lists_are_of_what_is_popular(own, monkeypatch, ridge):
    edgeless = CoOccurrenceSpectrum(np.ones(ITEMS), np.zeros(0), np.zeros((ITEMS, 0)), 1.0)
    monkeypatch.setattr(ease_from_reports, "spectrum", lambda *args, **kwargs: edgeless)
    reports = perturb(own, plans("0.1")["catalogue"])
    fitted = EASE(ridge=ridge).fit(interactions(reports))
    assert fitted.lists(own, 4).tolist() == fit("popularity", reports).lists(own, 4).tolist()


@pytest.fixture(scope="module")
def ndcg():
    """NDCG@10 of a model, an epsilon a slot and a place, mean of three draws: 4,000 people have two
    tastes, of 30 items each."""
    chance = np.random.default_rng(0)
    taste = chance.integers(0, 2, 4000)
    likes = np.repeat([[0.25, 0.02], [0.02, 0.25]], 30, axis=1)[taste]
    own = world(chance.random((4000, 60)) < likes)
    held = np.random.default_rng(1).random(len(own)) < 0.3
    train, test = own.where(~held), own.where(held)
    counts = np.bincount(train.items, minlength=60)

    def figure(name, epsilon, where):
        fitted = fit(name, perturb(train, plans(epsilon)["catalogue"]))
        lists = fitted.lists(train, 10, where=where)
        return list_figures(lists, test.users, test.items, counts).ndcg

    return lambda name, epsilon, where="device": np.mean(
        [figure(name, epsilon, where) for _ in range(3)]
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["ease", "graph-filter"])
def test_lists_of_people_who_follow_their_taste_are_better_than_what_is_popular(name, ndcg):
    """At epsilon 3 both models see the tastes; popularity cannot."""
    assert ndcg(name, "3") > 1.3 * ndcg("popularity", "3")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["ease", "graph-filter"])
def test_lists_from_a_person_s_own_reports_are_worse_than_those_made_at_home(name, ndcg):
    """By 1.27 to 1.31 and 1.38 to 1.53 times, in eight worlds."""
    assert ndcg(name, "1.5") > 1.15 * ndcg(name, "1.5", "provider")


def test_what_cannot_be_learnt_from_is_refused_with_a_sentence(own):
    with pytest.raises(RequestError, match="contains no rows"):
        interactions(own.where(np.zeros(len(own), bool)))
    one = Sample(compile_channel("randomized-response", epsilon="1", scale=ONE, missing=True), 1)
    with pytest.raises(RequestError, match="requires at least two slots per user"):
        fit("ease", perturb(own, one))
    with pytest.raises(RequestError, match="too few to select a ridge"):
        fit("ease", world(np.ones((3, 9))))
    with pytest.raises(RequestError, match=r"EASE on 10,001 items requires 6 GB"):
        fit("ease", world(np.ones((1, 10_001))))
    with pytest.raises(RequestError, match="ridge must be above 0, got 0"):
        EASE(ridge=0)
    with pytest.raises(RequestError, match="0 directions"):
        GraphFilter(directions=0)
