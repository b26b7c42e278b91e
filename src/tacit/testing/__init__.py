"""Test suites for channels, models, trainers, attacks, stores and engines of any package.

    from tacit.testing import check_channel

Each check is a tuple of claims, functions that raise `AssertionError` with a message. A test runs
all of them by `check_..`, or is parametrized over `.._CLAIMS`.
"""

from tacit.testing.attacks import ATTACK_CLAIMS as ATTACK_CLAIMS
from tacit.testing.attacks import check_attack as check_attack
from tacit.testing.channels import CHANNEL_CLAIMS as CHANNEL_CLAIMS
from tacit.testing.channels import check_channel as check_channel
from tacit.testing.engines import ENGINE_CLAIMS as ENGINE_CLAIMS
from tacit.testing.engines import check_engine as check_engine
from tacit.testing.models import MODEL_CLAIMS as MODEL_CLAIMS
from tacit.testing.models import check_model as check_model
from tacit.testing.stores import STORE_CLAIMS as STORE_CLAIMS
from tacit.testing.stores import StoreOpeners as StoreOpeners
from tacit.testing.stores import check_store as check_store
from tacit.testing.trainings import LIST_TRAINING_CLAIMS as LIST_TRAINING_CLAIMS
from tacit.testing.trainings import TRAINING_CLAIMS as TRAINING_CLAIMS
from tacit.testing.trainings import check_training as check_training
