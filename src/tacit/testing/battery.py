"""Selection of test suites and their verdicts, for `tacit check`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any

from tacit.channels.mechanism import AbstractMechanism
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.models import FittedLists
from tacit.scale import RatingScale
from tacit.testing.attacks import ATTACK_CLAIMS
from tacit.testing.channels import CHANNEL_CLAIMS, Build
from tacit.testing.models import MODEL_CLAIMS
from tacit.testing.trainings import DELTA, LIST_TRAINING_CLAIMS, TRAINING_CLAIMS, made_up

SCALE = RatingScale.parse("1:5:1")
UNPROVED = {
    "channel": "that the table is the intended distribution, and that the random bits of a draw "
    "are secret",
    "model": "how well it predicts real ratings",
    "trainer": "that its sensitivity is correct for ratings outside the tests, and that no output "
    "bypasses NoisyReleases",
    "list trainer": "that its sensitivity is correct for users outside the tests, and that no "
    "output bypasses NoisyReleases",
    "attack": "that no stronger attack exists",
}
"""What the test suites do not show, by kind."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Result of one claim: `fault` is None where it holds."""

    claim: str
    fault: str | None


@dataclass(frozen=True, kw_only=True)
class Battery:
    """`kind` of the member, a key of `UNPROVED`; `subject`: what `claims` are run on."""

    kind: str
    subject: Any
    claims: tuple[Callable[[Any], None], ...]

    @classmethod
    def of(cls, member: Any) -> "Battery":
        """Return the test suite of a mechanism's class, or of a model, a trainer or an attack.

        Classes of the latter are instantiated without settings. Raises `RequestError` for anything
        else.
        """
        if isinstance(member, type) and issubclass(member, AbstractMechanism):
            return cls(kind="channel", subject=_build(member), claims=CHANNEL_CLAIMS)
        instance = member() if isinstance(member, type) else member
        if hasattr(instance, "knows") and hasattr(instance, "run"):
            return cls(kind="attack", subject=instance, claims=ATTACK_CLAIMS)
        parameters = signature(instance.fit).parameters if hasattr(instance, "fit") else None
        if parameters is None:
            raise RequestError(
                f"{instance!r} is not a channel, model, trainer or attack: it is not a subclass of "
                "AbstractMechanism, and has neither fit nor run."
            )
        if "epsilon" not in parameters:
            return cls(kind="model", subject=instance, claims=MODEL_CLAIMS)
        if _lists(instance):
            return cls(kind="list trainer", subject=instance, claims=LIST_TRAINING_CLAIMS)
        return cls(kind="trainer", subject=instance, claims=TRAINING_CLAIMS)

    def verdicts(self) -> Iterator[Verdict]:
        """Run each claim and yield its verdict; a claim that raises anything does not hold."""
        for claim in self.claims:
            statement = " ".join((claim.__doc__ or claim.__name__).split()).partition(". ")[0]
            yield Verdict(claim=statement.rstrip("."), fault=_fault(claim, self.subject))


def _fault(claim: Callable[[Any], None], subject: Any) -> str | None:
    try:
        claim(subject)
    except Exception as found:  # plug-ins may raise anything
        return str(found) or type(found).__name__
    return None


def _lists(training: Any) -> bool:
    """Return whether it is a top-N trainer, False if it cannot be fitted."""
    try:
        return isinstance(training.fit(made_up()[0], epsilon="1", delta=DELTA), FittedLists)
    except Exception:  # a claim fails with the same error
        return False


def _build(member: type[AbstractMechanism]) -> Build:
    missing = member.__dataclass_fields__.get("missing")
    settings = {"missing": True} if missing is not None and missing.default is True else {}

    def build(epsilon: str, word_bits: int = 64) -> Channel:
        return member(epsilon=epsilon, scale=SCALE, word_bits=word_bits, **settings).table()

    return build
