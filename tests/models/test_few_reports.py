"""Next to nothing to learn from: a sentence, or a model without a warning."""

import numpy as np
import pytest

from tacit import Catalogue, Sample, compile_channel, fit, perturb
from tacit.errors import RequestError
from tacit.models import MODELS
from tacit.readers import synthetic

RATINGS = synthetic(80, 60, 2000, rng=2)
SHORT = {"burn_in": 5, "draws": 4, "every": 2}
QUICK = {"channel-mf": SHORT, "channel-mf-screened": SHORT}


def sampled(epsilon):
    channel = compile_channel("randomized-response", epsilon=epsilon, scale="1:5:1", missing=True)
    return perturb(RATINGS, Sample(channel, 1)), channel.outputs.index(None)


@pytest.mark.parametrize("name", list(MODELS))
def test_reports_that_all_say_missing_are_refused(name):
    reports, missing = sampled("4")
    with pytest.raises(RequestError, match="have the value missing"):
        fit(name, reports.where(reports.symbols == missing))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", list(MODELS))
def test_one_rating_among_them_is_enough_to_predict_something(name):
    reports, missing = sampled("4")
    (first, *_) = np.flatnonzero(reports.symbols != missing)
    rows = np.arange(len(reports))
    some = reports.where((reports.symbols == missing) | (rows == first))
    found = fit(name, some, **QUICK.get(name, {}))
    assert np.isfinite(found.predict_codes(RATINGS.users, RATINGS.items)).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["bias", "item-mean", "global-mean", "channel-mf"])
def test_counts_that_noise_makes_negative_are_no_counts(name):
    """At this epsilon every item has fewer ratings, debiased, than nobody's would be."""
    channel = compile_channel("randomized-response", epsilon="0.02", scale="1:5:1", missing=True)
    for _ in range(3):
        reports = perturb(RATINGS, Catalogue(channel, cap=1))
        some = reports.where(np.random.default_rng(0).random(len(reports)) < 0.05)
        found = fit(name, some, **QUICK.get(name, {}))
        assert np.isfinite(found.predict_codes(RATINGS.users, RATINGS.items)).all()
