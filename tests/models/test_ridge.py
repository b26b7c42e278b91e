"""Choice of a ridge: the error on debiased reports excludes candidates that contract ratings."""

import numpy as np

from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue, Rated
from tacit.models import evidence
from tacit.models.evidence.evidence import Evidence
from tacit.models.least_squares.ridge import (
    RIDGES,
    choose_ridge,
    held_out,
    mean_square,
    near_best,
)
from tacit.readers import synthetic

RATINGS = synthetic(n_users=400, n_items=100, n_ratings=20_000, rng=3)
TRUE = evidence(RATINGS)
SCALE = RATINGS.scale


def reports(epsilon: str) -> Evidence:
    channel = compile_channel("bounded-laplace", epsilon=epsilon, scale=SCALE)
    return evidence(perturb(RATINGS, Rated(channel)))


def contracted(share: float) -> np.ndarray:
    """The true ratings, drawn to their mean by the slope `share`."""
    mean = TRUE.values.mean()
    return mean + np.float32(share) * (TRUE.values - mean)


def slope(data: Evidence) -> float:
    return float(np.polyfit(TRUE.values, data.values, 1)[0])


def test_predictions_contracted_like_the_reports_are_excluded():
    """The error on reports prefers them to the ratings themselves.

    The excess is (1 - s)^2 var(rating) = .8 and has a standard error of .04: 10 times the margin.
    """
    data = reports("2")
    exact, like_reports = contracted(1.0), contracted(slope(data))
    assert mean_square(like_reports - data.values) < mean_square(exact - data.values)
    assert near_best([exact, like_reports], data).tolist() == [True, False]


def test_noise_seldom_excludes_a_prediction():
    """At epsilon .01 the excess above is 1.4, and its standard error 11.

    Either prediction may then be excluded, in 5 % of draws: in 11 or more of 60 once in 4,000 runs.
    """
    exact, constant = contracted(1.0), contracted(0.0)
    draws = [near_best([exact, constant], reports("0.01")).all() for _ in range(60)]
    assert sum(draws) > 60 - 11


def test_predictions_of_slots_are_compared_on_reports_alone():
    channel = compile_channel("randomized-response", epsilon="3", scale=SCALE, missing=True)
    data = evidence(perturb(RATINGS, Catalogue(channel)))
    worse = np.full(len(data), 1.0, np.float32)
    assert near_best([worse, worse + 2], data).all()


class Slope:
    """Predictions of ratings that are contracted to a share."""

    def __init__(self, share: float):
        self.of = np.full((RATINGS.n_users, RATINGS.n_items), np.nan, np.float32)
        self.of[TRUE.user_of, TRUE.item_of] = contracted(share)

    def predict(self, test: Evidence) -> np.ndarray:
        return self.of[test.user_of, test.item_of]


def test_a_ridge_that_contracts_predictions_is_excluded():
    """The slope of predictions is 1 - ridge / 330, that of the reports .455.

    At the ridge of 200 the error on reports is least, by 4.7 standard errors, and the debiased
    error exceeds the least by 6.5 standard errors, where 2 suffice to exclude it.
    """
    data = reports("3")
    slopes = {ridge: Slope(1 - ridge / 330) for ridge in RIDGES}
    _, test = held_out(data)
    errors = {
        ridge: mean_square(each.predict(test) - test.values) for ridge, each in slopes.items()
    }
    assert min(errors, key=errors.__getitem__) == 200
    assert choose_ridge(data, lambda train, ridge: slopes[ridge]) < 200
