import pytest

from tacit.channels import compile
from tacit.scale import RatingScale
from tacit.wire.task import Task

STARS = RatingScale.parse("1:5:1")


@pytest.fixture
def ask():
    """Makes a small task; `missing` follows the plan."""

    def made(
        plan: str = "rated", epsilons: tuple[str, ...] = ("1",), items=range(100, 106), **changes
    ):
        channels = tuple(
            compile("randomized-response", epsilon=e, scale=STARS, missing=plan != "rated")
            for e in epsilons
        )
        fields = {
            "name": "Films",
            "scale": STARS,
            "plan": plan,
            "items": tuple(items),
            "channels": channels,
            "start": 1_000,
        }
        return Task(**fields | changes)

    return made
