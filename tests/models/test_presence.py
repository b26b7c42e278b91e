"""What presence alone tells, and that nothing else slips in."""

from dataclasses import replace

import numpy as np

from tacit.kernels.layout import layout
from tacit.models import at_home, evidence, model
from tacit.models.presence import presence
from tacit.readers.synthetic import synthetic


def test_a_device_computes_the_features_the_provider_computed() -> None:
    ratings = synthetic(n_users=120, n_items=90, n_ratings=4000, rng=2)
    cells = layout(ratings.users, ratings.items, 120, 90)
    known = presence(cells, 6)
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
    assert np.array_equal(presence(one, 5).vectors, presence(two, 5).vectors)


def test_hidden_presence_is_not_used() -> None:
    ratings = synthetic(n_users=80, n_items=60, n_ratings=2000, rng=5)
    hidden = replace(evidence(ratings), presence_public=False)
    fitted = model("channel-mf", burn_in=2, draws=4, every=1).fit(hidden)
    assert fitted.presence is None
    assert np.isfinite(at_home(fitted, ratings).people).all()
