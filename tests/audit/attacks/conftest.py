"""Worlds that attacks are tried in: clean ones, and ones with a planted leak."""

import pytest

from tacit.audit.attacks.world import World
from tacit.channels import compile_channel
from tacit.collection import named_plans
from tacit.readers import synthetic


@pytest.fixture(scope="session")
def people():
    """Made-up ratings of 300 people."""
    return synthetic(300, 200, 15_000, rng=5)


@pytest.fixture
def world(people):
    """Makes a world of them: a plan, and epsilon per value or slot."""

    def made(plan="rated", epsilon="1", seed=0, ratings=people):
        missing = named_plans.protects_presence(plan)
        channel = compile_channel(
            "randomized-response", epsilon=epsilon, scale=ratings.scale, missing=missing
        )
        return World.through(ratings, named_plans.plan(plan, channel), seed)

    return made


@pytest.fixture
def figure():
    """The one finding of that figure whose setting begins so."""

    def chosen(findings, name, setting=""):
        (found,) = [f for f in findings if f.figure == name and f.setting.startswith(setting)]
        return found

    return chosen
