"""One row a member: every test that asks for `member` runs for all of them."""

from collections.abc import Callable
from typing import Any

import pytest

from tacit.channels import MECHANISMS, compile_channel
from tacit.channels.table import Channel
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")

MEMBERS: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in MECHANISMS} | {
    "randomized-response-missing": ("randomized-response", {"missing": True}),
    "optimal-information": ("optimal", {"objective": "information"}),
    "optimal-missing": ("optimal", {"missing": True}),
}

Build = Callable[..., Channel]


@pytest.fixture(params=list(MEMBERS))
def member(request: pytest.FixtureRequest) -> Build:
    """Compiles one member: `member(epsilon, scale=.., word_bits=..)`."""
    name, options = MEMBERS[request.param]

    def build(epsilon: str, scale: RatingScale = STARS, **more: Any) -> Channel:
        return compile_channel(name, epsilon=epsilon, scale=scale, **options, **more)

    build.__name__ = request.param
    return build
