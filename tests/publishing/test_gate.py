"""A model is refused three standard errors below zero, or below the last model's gain."""

from math import hypot

import pytest

from tacit.collector.storage.publications import Publication
from tacit.errors import RequestError
from tacit.publishing.gate import require_publishable
from tacit.publishing.held_out import Gain

ADDRESS = "ab" * 32
ERROR, LAST_ERROR = 0.02, 0.015
BOUND = 3 * hypot(ERROR, LAST_ERROR)


def last(gain, unit="squared error", learner="bias"):
    error = None if gain is None else LAST_ERROR
    return Publication(
        model=ADDRESS, at=0.0, learner=learner, reports=9, unit=unit, gain=gain, error=error
    )


def gain(value):
    return Gain("squared error", value, ERROR, 400)


@pytest.mark.parametrize(
    ("value", "previous"),
    [
        (-2.99 * ERROR, None),
        (0.2 - 0.99 * BOUND, last(0.2)),
        (0.0, last(0.9, "discounted gain")),
        (0.0, last(None, None)),
    ],
)
def test_a_model_within_three_standard_errors_is_published(value, previous):
    require_publishable("channel-mf", 100, 100, gain(value), previous)


@pytest.mark.parametrize(
    ("value", "previous", "message"),
    [
        (-3.01 * ERROR, None, "worse than popularity: its gain over popularity is -0.0602 in"),
        (0.2 - 1.01 * BOUND, last(0.2), "that of the last model, bias, was 0.2000"),
    ],
)
def test_a_model_below_three_standard_errors_is_refused(value, previous, message):
    with pytest.raises(RequestError, match=message) as error:
        require_publishable("channel-mf", 100, 100, gain(value), previous)
    assert "--force" in str(error.value)


def test_a_model_without_a_gain_is_refused_for_few_reports_alone():
    require_publishable("channel-mf", 100, 100, None, last(0.2))
    with pytest.raises(RequestError, match="requires at least 100 reports, got 99"):
        require_publishable("channel-mf", 99, 100, None, None)


def test_a_model_that_does_not_allow_for_noise_is_compared_with_its_kind():
    require_publishable("mf", 100, 100, gain(-1.0), None)
    require_publishable("mf", 100, 100, gain(-1.0), last(0.2, learner="channel-mf"))
    require_publishable("channel-mf", 100, 100, gain(0.3), last(9.0, learner="mf"))
    with pytest.raises(RequestError, match="that of the last model, mf, was"):
        require_publishable("mf", 100, 100, gain(-1.0), last(-0.8, learner="mf"))
