"""Which battery is for what, and what came of each claim: behind `tacit check`."""

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
    "channel": "that the table is the intended distribution, and that the random words of a draw "
    "are secret",
    "model": "how well it predicts real ratings",
    "trainer": "that its sensitivity is correct for other ratings than those of the tests, and "
    "anything about noise that bypasses NoisyReleases",
    "list trainer": "that its sensitivity is correct for other users than those of the tests, and "
    "anything about noise that bypasses NoisyReleases",
    "attack": "that a better attacker finds nothing more",
}
"""What no battery shows, by kind."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of one claim: `fault` is None where it holds."""

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
        """The battery of a mechanism's class, or of a model, a training or an attack; a class of
        the latter is called without settings. Raises `RequestError` for anything else."""
        if isinstance(member, type) and issubclass(member, AbstractMechanism):
            return cls(kind="channel", subject=_build(member), claims=CHANNEL_CLAIMS)
        found = member() if isinstance(member, type) else member
        if hasattr(found, "knows") and hasattr(found, "run"):
            return cls(kind="attack", subject=found, claims=ATTACK_CLAIMS)
        asked = signature(found.fit).parameters if hasattr(found, "fit") else None
        if asked is None:
            raise RequestError(
                f"{found!r} is not a channel, model, trainer or attack: it is not a subclass of "
                "AbstractMechanism, and has neither fit nor run."
            )
        if "epsilon" not in asked:
            return cls(kind="model", subject=found, claims=MODEL_CLAIMS)
        if _lists(found):
            return cls(kind="list trainer", subject=found, claims=LIST_TRAINING_CLAIMS)
        return cls(kind="trainer", subject=found, claims=TRAINING_CLAIMS)

    def verdicts(self) -> Iterator[Verdict]:
        """Each claim as it is run; one that raises anything does not hold."""
        for claim in self.claims:
            said = " ".join((claim.__doc__ or claim.__name__).split()).partition(". ")[0]
            yield Verdict(claim=said.rstrip("."), fault=_fault(claim, self.subject))


def _fault(claim: Callable[[Any], None], subject: Any) -> str | None:
    try:
        claim(subject)
    except Exception as found:  # a member from outside may raise anything
        return str(found) or type(found).__name__
    return None


def _lists(training: Any) -> bool:
    """Whether lists are what it learns; one that cannot be fitted is judged as one of ratings."""
    try:
        return isinstance(training.fit(made_up()[0], epsilon="1", delta=DELTA), FittedLists)
    except Exception:  # which a claim runs into as well, and says
        return False


def _build(member: type[AbstractMechanism]) -> Build:
    missing = member.__dataclass_fields__.get("missing")
    settings = {"missing": True} if missing is not None and missing.default is True else {}

    def build(epsilon: str, word_bits: int = 64) -> Channel:
        return member(epsilon=epsilon, scale=SCALE, word_bits=word_bits, **settings).table()

    return build
