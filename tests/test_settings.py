"""Numbers as settings: a learner refuses each of them in a sentence, or fits a finite model."""

import math
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from tacit import Catalogue, Rated, compile_channel, models, perturb, synthetic, training
from tacit.errors import RequestError
from tacit.learners.learner import learner

STARS, THERE = (synthetic(40, 40, 800, scale=scale) for scale in ("1:5:1", "there"))
LEARNERS = [
    *((name, "strict") for name in (*models.MODELS, *models.LIST_MODELS)),
    *training.TRAININGS,
    *((name, "strict") for name in training.LIST_TRAININGS),
]
EXTREMES = {"int": (-1, 0), "float": (math.nan, math.inf, -1.0, 0.0)}


def extremes(settings):
    """Pairs of a setting and a number of its type."""
    for field in fields(settings) if is_dataclass(settings) else ():
        for kind, numbers in EXTREMES.items():
            if kind in str(field.type):
                yield from ((field.name, number) for number in numbers)


def fitted_values(chosen):
    is_list = not chosen.predicts
    if chosen.is_trainer:
        fitted = chosen.fit(THERE if is_list else STARS, epsilon="5", delta="1e-4")
    else:
        fitted = chosen.fit(implicit_reports() if is_list else reports())
    if is_list:
        return fitted.weights.popularity
    codes = np.arange(40, dtype=np.int32)
    return fitted.predict_codes(codes, codes)


def reports():
    return perturb(STARS, Rated(compile_channel("optimal", epsilon="2", scale=STARS.scale)))


def implicit_reports():
    channel = compile_channel("randomized-response", epsilon="2", scale=THERE.scale, missing=True)
    return perturb(THERE, Catalogue(channel))


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "mode"), LEARNERS)
def test_every_number_is_refused_or_fits_a_finite_model(name, mode):
    chosen = learner(name, mode)
    for setting, number in extremes(chosen.settings):
        try:
            values = fitted_values(chosen.changed({setting: number}))
        except RequestError:
            continue
        assert np.isfinite(values).all(), (setting, number)
