"""One row a training: every member whose promise holds passes the whole battery."""

import pytest

from tacit.testing import LIST_TRAINING_CLAIMS, TRAINING_CLAIMS
from tacit.training import LIST_TRAININGS, names, training

QUICK = {"pg-mf": {"rounds": 20}}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("claim", TRAINING_CLAIMS, ids=lambda claim: claim.__name__)
@pytest.mark.parametrize("name", names("strict"))
def test_every_claim_about_a_training_holds(claim, name):
    claim(training(name, **QUICK.get(name, {})))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("claim", LIST_TRAINING_CLAIMS, ids=lambda claim: claim.__name__)
@pytest.mark.parametrize("name", LIST_TRAININGS)
def test_every_claim_about_a_training_of_lists_holds(claim, name):
    claim(LIST_TRAININGS[name])
