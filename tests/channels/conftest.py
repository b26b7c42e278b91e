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

ON_ONE_LEVEL = ("randomized-response", "optimal")
"""Those that hide presence over the scale `there`."""

Build = Callable[..., Channel]


@pytest.fixture(params=list(MEMBERS))
def member(request: pytest.FixtureRequest) -> Build:
    """Compiles one member: `member(epsilon, scale=.., word_bits=..)`."""
    name, options = MEMBERS[request.param]

    def build(epsilon: str, scale: RatingScale = STARS, **more: Any) -> Channel:
        return compile_channel(name, epsilon=epsilon, scale=scale, **options, **more)

    build.__name__ = request.param
    return build


@pytest.fixture(params=ON_ONE_LEVEL)
def one_level_member(request: pytest.FixtureRequest) -> Build:
    """Compiles one member over the scale `there`."""

    def build(epsilon: str, **more: Any) -> Channel:
        scale = RatingScale.parse("there")
        return compile_channel(request.param, epsilon=epsilon, scale=scale, missing=True, **more)

    return build
