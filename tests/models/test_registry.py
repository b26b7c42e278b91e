"""One row a model: every member of the registry passes the whole battery."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from tacit import fit
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue, Rated
from tacit.errors import RequestError
from tacit.models import MODELS, AbstractModel, fold_in, model
from tacit.ratings import Ratings
from tacit.readers.synthetic import synthetic
from tacit.testing import MODEL_CLAIMS
from tacit.testing.models import fitted, made_up

SHORT = {"burn_in": 10, "draws": 8, "every": 2}
QUICK = {"channel-mf": SHORT, "channel-mf-screened": SHORT}
# RMSE on held-out true ratings at epsilon 3 over that of their mean: 4 deviations above the mean of
# eight made-up worlds, whose deviation is .014 to .019 (.0005 of global-mean).
BANDS = {
    "global-mean": 1.003,
    "item-mean": 0.964,
    "bias": 0.920,
    "mf-plain": 0.976,
    "mf": 0.933,
    "completion": 0.932,
    "svd": 0.936,
    "svdpp": 0.937,
    "als-svd": 0.937,
    "als-svdpp": 0.936,
    "mog-mf": 0.973,
    "channel-mf": 0.911,
    "channel-mf-screened": 0.913,
}

pytestmark = pytest.mark.parametrize("name", list(MODELS))


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthetic(n_users=60, n_items=40, n_ratings=1200, rng=3)


@pytest.mark.sampled(4)
def test_it_learns_from_reports_alone(name: str) -> None:
    train, test, reports = made_up()
    found = fitted(model(name, **QUICK.get(name, {})))
    provider = found.predict_codes(test.users, test.items)
    device = fold_in(found, train).predict_codes(test.users, test.items)
    errors = [float(np.sqrt(np.mean((p - test.values) ** 2))) for p in (provider, device)]
    assert errors[0] < BANDS[name] * np.std(test.values)
    assert name == "global-mean" or BANDS[name] < 0.98
    assert errors[1] < errors[0] + 0.002
    assert found.guarantee == reports.guarantee


@pytest.mark.sampled(6)
@pytest.mark.parametrize("claim", MODEL_CLAIMS, ids=lambda claim: claim.__name__)
def test_every_claim_about_a_model_holds(name: str, claim: Callable[[AbstractModel], None]) -> None:
    claim(model(name, **QUICK.get(name, {})))


@pytest.mark.sampled(4)
def test_somebody_new_gets_the_mean_and_a_new_item_the_persons_own(
    name: str, ratings: Ratings
) -> None:
    found = fit(name, ratings, rng=0, **QUICK.get(name, {}))
    if found.sigma == 0:
        item, user = ratings.item_ids.ids[3], ratings.user_ids.ids[4]
        _, new, both = found.predict(pl.Series([-7, user, -7]), pl.Series([item, -7, -7]))
        assert both == pytest.approx(float(found.mu[0]), abs=1e-5)
        assert new == pytest.approx(float(found.mu[0] + found.people[0, 4, 0]), abs=1e-5)


def test_a_setting_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(RequestError, match="has no setting 'ridgge'"):
        model(name, ridgge=3)


@pytest.mark.parametrize("plan", [Rated, Catalogue])
def test_reports_that_tell_nothing_are_refused(
    name: str, plan: type[Rated] | type[Catalogue], ratings: Ratings
) -> None:
    settings = {"missing": True} if plan is Catalogue else {}
    channel = compile_channel("randomized-response", epsilon="0", scale=ratings.scale, **settings)
    with pytest.raises(
        RequestError, match=r"same output distribution for all ratings \(epsilon 0\)"
    ):
        fit(name, perturb(ratings, plan(channel)))
