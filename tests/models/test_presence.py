"""What presence alone tells, and that nothing else slips in."""

import numpy as np

from tacit.kernels.layout import Layout, layout
from tacit.models import at_home, evidence, model
from tacit.models.presence import Presence, presence
from tacit.models.presence_matrix import public
from tacit.models.spectrum import spectrum
from tacit.readers.synthetic import synthetic


def known_presence(cells: Layout, items: int, directions: int) -> Presence:
    matrix = public(cells.users, items)
    return presence(matrix, spectrum(matrix, directions))


def test_a_device_computes_the_features_the_provider_computed() -> None:
    ratings = synthetic(n_users=120, n_items=90, n_ratings=4000, rng=2)
    cells = layout(ratings.users, ratings.items, 120, 90)
    known = known_presence(cells, 90, 6)
    provider = known.people(cells.users)
    for person in (0, 50, 119):
        mine = ratings.items[ratings.users == person]
        alone = known.people(layout(np.zeros(len(mine), np.int32), mine, 1, 90).users)
        assert np.allclose(alone[0], provider[person], atol=1e-12)
    assert np.allclose(provider.mean(0), 0, atol=1e-5)
    assert np.allclose(provider.std(0), 1, atol=1e-5)


def test_ratings_play_no_part_in_the_features() -> None:
    ratings = synthetic(n_users=80, n_items=60, n_ratings=2000, rng=5)
    turned = ratings.where(np.ones(len(ratings), bool))
    turned.levels[:] = ratings.levels[::-1].copy()
    one, two = (evidence(r).layout for r in (ratings, turned))
    assert np.array_equal(known_presence(one, 60, 5).vectors, known_presence(two, 60, 5).vectors)


def test_a_model_may_do_without() -> None:
    ratings = synthetic(n_users=80, n_items=60, n_ratings=2000, rng=5)
    settings = {"burn_in": 2, "draws": 4, "every": 1, "directions": 0}
    fitted = model("channel-mf", **settings).fit(evidence(ratings))
    assert fitted.presence is None
    assert np.isfinite(at_home(fitted, ratings).people).all()
