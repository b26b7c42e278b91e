"""Settings that all trainers from shuffled messages have, and the plan that follows from them.

The guarantee assumes that a batch has at least `turnout` times the number of users as bundles, and
that a fraction `honest` of them comes from devices that follow the protocol. Dummies are calibrated
for these. All users send a bundle in a simulation.
"""

from typing import Protocol

from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.errors import RequestError, integer


class ShuffledSettings(Protocol):
    """Settings of a trainer from shuffled messages."""

    @property
    def messages(self) -> int:
        """M of the plan: pairs that a device sends at most."""
        ...

    @property
    def honest(self) -> float:
        """Least fraction of honest bundles."""
        ...

    @property
    def turnout(self) -> float:
        """Least bundles in a batch over the number of users."""
        ...


def check_settings(trainer: ShuffledSettings) -> None:
    """Raise `RequestError` for settings out of range."""
    integer("messages", trainer.messages, 1)
    for name, share in (("honest", trainer.honest), ("turnout", trainer.turnout)):
        if not 0 < share <= 1:
            raise RequestError(f"{name} must be above 0 and at most 1, got {share:g}.")


def plan_for(
    trainer: ShuffledSettings,
    people: int,
    items: int,
    epsilon: str,
    delta: str,
    *,
    signed: bool = False,
) -> ShuffledPlan:
    """Return the plan of a trainer for a number of `people`, at `epsilon` nats per user.

    `items`: size of the catalogue. `epsilon`, `delta`: decimal strings. `signed`: whether messages
    have a sign. Raises `RequestError` for an invalid `epsilon` or `delta`.
    """
    return ShuffledPlan(
        messages=trainer.messages,
        items=items,
        epsilon=epsilon,
        delta=delta,
        bundles=max(int(trainer.turnout * people), 1),
        honest=f"{trainer.honest:g}",
        signed=signed,
    )
