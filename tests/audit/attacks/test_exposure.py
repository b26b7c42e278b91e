"""Membership in the public statistics of a published model."""

import numpy as np
import pytest

from tacit.audit.attacks.exposure import Exposure
from tacit.audit.attacks.world import World
from tacit.errors import RequestError


@pytest.fixture(scope="module")
def few(people):
    some = people.where(people.users < 40).with_people(people.user_ids.ids[:40])
    return World.unprotected(some, "rated", 0)


def test_members_are_found_in_statistics_without_noise(few):
    area, rare = Exposure(models=16).run(few)
    assert area.setting == rare.setting == "the item model's exposure, no noise"
    assert area.value > 0.75
    assert area.bound is None
    assert not area.leaks


def test_users_in_no_model_are_not_found(people, few, monkeypatch):
    """Models of other users: the area is a half within its standard error."""
    others = people.where(people.users >= 200).with_people(people.user_ids.ids[200:])
    from tacit.models import exposure_of

    rng = np.random.default_rng(5)

    def strangers(members):
        some = others.where((rng.random(others.n_users) < 0.5)[others.users])
        return exposure_of(some)

    monkeypatch.setattr("tacit.audit.attacks.exposure.exposure_of", strangers)
    area, _ = Exposure(models=32).run(few)
    assert abs(area.value - 0.5) < 4 * area.error


@pytest.mark.parametrize(("setting", "least"), [("models", 7), ("most_people", 1)])
def test_too_small_attacks_are_refused(setting, least):
    with pytest.raises(RequestError, match=f"{setting} must be at least"):
        Exposure(**{setting: least})
