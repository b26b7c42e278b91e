"""SVD++ beside naive twins: the same updates in the same order, the same minima."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.kernels.layout import Layout, layout
from tacit.kernels.sgd import Doubles, Parameters, Rates, descend, implicit
from tacit.models import Evidence, Fitted, evidence, model
from tacit.models.least_squares.als_svd import (
    ITEM_DAMPING,
    PERSON_DAMPING,
    Alternation,
    damped_biases,
)
from tacit.readers.synthetic import synthetic

PEOPLE, ITEMS, K = 9, 14, 5
RATES, RIDGE = Rates(0.05, 0.04, 0.03, 0.06), 0.1


@pytest.fixture
def cells() -> Layout:
    """Person 4 rated nothing, item 7 was rated by nobody, person 0 rated one item."""
    rated = np.random.default_rng(5).random((PEOPLE, ITEMS)) < 0.5
    rated[4], rated[:, 7], rated[0] = False, False, np.arange(ITEMS) == 3
    return layout(*(np.int32(side) for side in np.nonzero(rated)), PEOPLE, ITEMS)[0]


@pytest.fixture
def centred(cells: Layout) -> Doubles:
    return np.random.default_rng(6).normal(0, 1, len(cells.users.other))


def start() -> Parameters:
    draw = np.random.default_rng(7)
    sizes = PEOPLE, ITEMS, (PEOPLE, K), (ITEMS, K), (ITEMS, K)
    return Parameters(*(draw.normal(0, 0.4, size) for size in sizes))


def naive(
    cells: Layout, centred: Doubles, at: Parameters, epochs: int, forgotten: bool = False
) -> None:
    """The updates as they are printed: every y_j of a person after every one of their ratings."""
    side = cells.users
    for _ in range(epochs):
        for u in range(PEOPLE):
            place = range(side.start[u], side.start[u + 1])
            rated = side.other[side.start[u] : side.start[u + 1]]
            for t in place:
                i, root = side.other[t], 1 / np.sqrt(len(rated))
                z = root * at.y[rated].sum(axis=0)
                p, q = at.p[u].copy(), at.q[i].copy()
                e = centred[t] - at.b_u[u] - at.b_i[i] - q @ (p + z)
                at.b_u[u] += RATES.biases * (e - RIDGE * at.b_u[u])
                at.b_i[i] += RATES.biases * (e - RIDGE * at.b_i[i])
                at.p[u] += RATES.people * (e * q - RIDGE * p)
                at.q[i] += RATES.items * (e * (p + z) - RIDGE * q)
                share = 1.0 if forgotten else root
                at.y[rated] += RATES.implicit * (e * share * q - RIDGE * at.y[rated])


def apart(one: Parameters, two: Parameters) -> float:
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(one, two, strict=True))


def test_one_pass_a_person_makes_the_updates_as_printed(cells: Layout, centred: Doubles) -> None:
    fast, slow = start(), start()
    for _ in range(6):
        descend(cells.users, centred, fast, RATES, RIDGE)
    naive(cells, centred, slow, 6)
    assert apart(fast, slow) < 1e-11
    assert apart(fast, start()) > 0.1


def test_a_share_that_is_forgotten_would_be_seen(cells: Layout, centred: Doubles) -> None:
    fast, slow = start(), start()
    descend(cells.users, centred, fast, RATES, RIDGE)
    naive(cells, centred, slow, 1, forgotten=True)
    assert apart(fast, slow) > 1e-2


def test_a_rate_of_zero_moves_nothing(cells: Layout, centred: Doubles) -> None:
    at = start()
    descend(cells.users, centred, at, Rates(0.0, 0.0, 0.0, 0.06), RIDGE)
    assert all(np.array_equal(a, b) for a, b in zip(at[:4], start()[:4], strict=True))
    untouched = 7  # nobody rated it
    assert np.array_equal(at.y[untouched], start().y[untouched])
    assert (at.y != start().y).sum() == len(np.unique(cells.users.other)) * K


def test_the_implicit_part_is_the_root_weighed_sum(cells: Layout) -> None:
    y, side = start().y, cells.users
    z = implicit(side, y)
    for u in range(PEOPLE):
        rated = side.other[side.start[u] : side.start[u + 1]]
        assert np.allclose(z[u], y[rated].sum(axis=0) / max(len(rated), 1) ** 0.5, rtol=1e-14)


@pytest.fixture(scope="module")
def data() -> Evidence:
    return evidence(synthetic(n_users=120, n_items=90, n_ratings=3000, rng=2))


@pytest.fixture(scope="module")
def sweeps(data: Evidence) -> Alternation:
    """Between a solve of people and one of items, with an implicit part that is not nothing."""
    state = Alternation.start(data, K, 4.0, rng=1)
    for _ in range(3):
        state.descend_implicit(0.05, 0.02)
        state.solve_people()
        state.solve_items()
    state.descend_implicit(0.05, 0.02)
    state.solve_people()
    return state


def slope(state: Alternation) -> tuple[Doubles, Doubles]:
    """Half the gradient of sum (c - q . (p + z))^2 + l |p|^2 + l |q|^2 in p and in q."""
    users, items, at = state.data.user_of, state.data.item_of, state.at
    x = at.p + state.z
    e = state.left - np.einsum("nk,nk->n", x[users], at.q[items])
    p, q = state.ridge * at.p, state.ridge * at.q
    np.subtract.at(p, users, e[:, None] * at.q[items])
    np.subtract.at(q, items, e[:, None] * x[users])
    return p, q


def test_each_solve_is_the_minimum_given_the_rest(sweeps: Alternation) -> None:
    of_people, of_items = slope(sweeps)
    assert np.abs(of_people).max() < 1e-4 < 1e-1 < np.abs(of_items).max()
    after = replace(sweeps)
    after.solve_items()
    of_people, of_items = slope(after)
    assert np.abs(of_items).max() < 1e-4 < 1e-2 < np.abs(of_people).max()


def test_a_solve_that_forgot_the_implicit_part_would_be_seen(sweeps: Alternation) -> None:
    blind = replace(sweeps, z=np.zeros_like(sweeps.z))
    blind.solve_people()
    blind.z = sweeps.z
    assert np.abs(slope(blind)[0]).max() > 1e-2


def test_the_biases_are_damped_means_of_what_is_left(data: Evidence) -> None:
    centred = data.values - data.values.mean(dtype=np.float64)
    b_u, b_i = damped_biases(data, centred)
    mine, own = data.item_of == 3, data.user_of == 5
    assert b_i[3] == pytest.approx(centred[mine].sum() / (ITEM_DAMPING + mine.sum()))
    left = centred[own] - b_i[data.item_of[own]]
    assert b_u[5] == pytest.approx(left.sum() / (PERSON_DAMPING + own.sum()))


NAMES = ["svd", "svdpp", "als-svd", "als-svdpp"]


def small(name: str, data: Evidence, rng: int = 0) -> Fitted:
    settings = {"ridge": 8.0, "sweeps": 3} if name.startswith("als") else {"epochs": 3}
    return model(name, **settings).fit(data, rng=rng)


@pytest.mark.parametrize("name", NAMES)
def test_who_reported_nothing_is_the_average_person(name: str, data: Evidence) -> None:
    fitted = small(name, data.where(data.user_of != 11))
    assert not fitted.people[0, 11].any()
    assert np.isfinite(fitted.people).all()
    assert np.isfinite(fitted.precision).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_every_digit(name: str, data: Evidence) -> None:
    one, two, other = (small(name, data, rng) for rng in (1, 1, 2))
    assert one.items.tobytes() == two.items.tobytes() != other.items.tobytes()
    assert one.people.tobytes() == two.people.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_another_unit_of_the_same_scale_changes_nothing(name: str) -> None:
    """Stars counted in tens: the same predictions, ten times as large."""
    stars = synthetic(n_users=60, n_items=60, n_ratings=1500, rng=4)
    tens = replace(stars, scale=type(stars.scale).parse("10:50:10"))
    one, ten = (small(name, evidence(ratings)) for ratings in (stars, tens))
    pairs = stars.users[:200], stars.items[:200]
    assert np.allclose(10 * one.predict_codes(*pairs), ten.predict_codes(*pairs), rtol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_far_off_the_scale_are_cut(name: str, data: Evidence) -> None:
    """Unbounded noise at a small epsilon would make gradient descent run away."""
    noise = np.random.default_rng(0).laplace(0, 4000, len(data.numbers)).astype(np.float32)
    fitted = small(name, replace(data, numbers=data.numbers + noise))
    assert 1 <= fitted.mu[0] <= 5
    assert np.abs(fitted.people).max() < 20
