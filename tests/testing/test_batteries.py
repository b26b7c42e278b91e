"""The batteries notice planted faults, and a package outside the tree runs them by one import."""

import subprocess
import sys
from dataclasses import replace

import pytest

from tacit.channels import compile_channel
from tacit.errors import CertificateError
from tacit.models import Fitted, model
from tacit.scale import RatingScale
from tacit.testing import check_channel, check_model, check_training
from tacit.training import training
from tacit.training.mechanism.noisy_releases import SecretReleases

STARS = RatingScale.parse("1:5:1")


def sound(epsilon, word_bits=64):
    return compile_channel("randomized-response", epsilon=epsilon, scale=STARS, word_bits=word_bits)


def loose(epsilon, word_bits=64):
    """Claims epsilon, and spends one half of it."""
    half = f"{float(epsilon) / 2:.6f}"
    return replace(sound(half, word_bits), epsilon=epsilon)


def greedy(epsilon, word_bits=64):
    """Claims half of what it spends."""
    return replace(sound(epsilon, word_bits), epsilon=f"{float(epsilon) / 2:.6f}")


def nameless(epsilon, word_bits=64):
    """The same outputs twice."""
    channel = sound(epsilon, word_bits)
    return replace(channel, outputs=(channel.outputs[0],) * len(channel.outputs))


def stubborn(epsilon, word_bits=64):
    """The same table at every epsilon."""
    return sound("0.01", word_bits) if epsilon != "1" else sound("1", word_bits)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("build", [loose, greedy, nameless, stubborn])
def test_a_faulty_channel_is_found(build):
    check_channel(sound)
    with pytest.raises((AssertionError, CertificateError)):
        check_channel(build)


class Wrapped:
    """The model `bias`, with one fault."""

    name = "wrapped"

    def __init__(self, fault) -> None:
        self._fault = fault

    def fit(self, data, *, rng=0, advance=lambda done: None) -> Fitted:
        return self._fault(model("bias").fit(data, rng=rng), data)


def shifted(fitted, data):
    """Worse than a constant."""
    return replace(fitted, mu=fitted.mu + 2)


def boastful(fitted, data):
    """A better guarantee than the reports had."""
    return replace(fitted, guarantee=replace(fitted.guarantee, epsilon="0.1"))


def untidy(fitted, data):
    """Leaves other numbers for the model that learns next."""
    data.values[:] = data.values[::-1].copy()
    return fitted


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", [shifted, boastful, untidy])
def test_a_faulty_model_is_found(fault):
    check_model(model("bias"))
    with pytest.raises(AssertionError):
        check_model(Wrapped(fault))


class Private:
    """The training `dp-bias`, with one fault."""

    name = "private"
    where = ("device",)

    def __init__(self, fault) -> None:
        self._fault = fault

    def fit(self, ratings, *, epsilon, delta="0", rng=0, advance=None, releases=None) -> Fitted:
        known = training("dp-bias")
        releases = releases or SecretReleases()
        fitted = known.fit(ratings, epsilon=epsilon, rng=rng, releases=releases)
        return self._fault(fitted, ratings)


def understated(fitted, ratings):
    """Half the epsilon that it spent."""
    half = f"{float(fitted.guarantee.epsilon) / 2}"
    return replace(fitted, guarantee=replace(fitted.guarantee, epsilon=half))


def raw(fitted, ratings):
    """The true mean beside the noisy one."""
    return replace(fitted, mu=fitted.mu * 0 + ratings.values.mean())


def unlearnt(fitted, ratings):
    """Predictions that are far off."""
    return replace(fitted, mu=fitted.mu - 3, precision=fitted.precision * 1e6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", [understated, raw, unlearnt])
def test_a_faulty_training_is_found(fault):
    check_training(Private(lambda fitted, ratings: fitted))
    with pytest.raises(AssertionError):
        check_training(Private(fault))


class Unaudited(Private):
    """Trusts a curator, and lets nobody see its releases."""

    def fit(self, ratings, *, epsilon, delta="0", rng=0, advance=None) -> Fitted:
        return training("dp-bias").fit(ratings, epsilon=epsilon, rng=rng)


def test_a_curator_whose_releases_cannot_be_seen_is_found():
    with pytest.raises(AssertionError, match="cannot be audited"):
        check_training(Unaudited(None))


class Mistaken(Private):
    """Says that a whole person is promised what one value is."""

    unit = "user"


def test_a_unit_that_the_guarantee_does_not_name_is_found():
    with pytest.raises(
        AssertionError,
        match="The unit of the trainer is user, but the unit of its guarantee is value",
    ):
        check_training(Mistaken(lambda fitted, ratings: fitted))


OUTSIDE = """
from tacit.testing import check_channel
from tacit.channels import compile_channel
from tacit.scale import RatingScale

scale = RatingScale.parse("1:5:1")
check_channel(
    lambda e, word_bits=64: compile_channel("duchi", epsilon=e, scale=scale, word_bits=word_bits)
)
print("sound")
"""


@pytest.mark.long
def test_a_package_of_ones_own_runs_them_without_pytest(tmp_path):
    hidden = f"import sys; sys.modules['pytest'] = None\n{OUTSIDE}"
    command = [sys.executable, "-c", hidden]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "sound\n"), ran.stderr
