"""The batteries notice planted faults, and a package outside the tree runs them by one import."""

import subprocess
import sys
from dataclasses import replace

import pytest

from tacit.channels import compile
from tacit.errors import CertificateError
from tacit.models import Fitted, model
from tacit.scale import RatingScale
from tacit.testing import check_channel, check_model

STARS = RatingScale.parse("1:5:1")


def sound(epsilon, word_bits=64):
    return compile("randomized-response", epsilon=epsilon, scale=STARS, word_bits=word_bits)


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


@pytest.mark.parametrize("fault", [shifted, boastful])
def test_a_faulty_model_is_found(fault):
    check_model(model("bias"))
    with pytest.raises(AssertionError):
        check_model(Wrapped(fault))


OUTSIDE = """
from tacit.testing import check_channel
from tacit.channels import compile
from tacit.scale import RatingScale

scale = RatingScale.parse("1:5:1")
check_channel(lambda e, word_bits=64: compile("duchi", epsilon=e, scale=scale, word_bits=word_bits))
print("sound")
"""


def test_a_package_of_ones_own_runs_them_without_pytest(tmp_path):
    hidden = f"import sys; sys.modules['pytest'] = None\n{OUTSIDE}"
    command = [sys.executable, "-c", hidden]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "sound\n"), ran.stderr
