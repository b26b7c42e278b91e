"""Attack scenarios: what an attacker infers from reports and models.

The row of an attack in `ATTACKS` gives it `tacit attack` and the battery of
`tacit.testing.attacks`. All of them are experiments: they need true ratings to be judged by, so
their figures are as private as those.
"""

from typing import Any

from tacit import registry
from tacit.audit.attacks.attribute import Attribute
from tacit.audit.attacks.averaging import Averaging
from tacit.audit.attacks.linkage import Linkage
from tacit.audit.attacks.membership import Membership
from tacit.audit.attacks.order import Order
from tacit.audit.attacks.poisoning import Poisoning
from tacit.audit.attacks.protocol import AbstractAttack
from tacit.audit.attacks.reconstruction import Reconstruction
from tacit.audit.attacks.two_tasks import TwoTasks

_MEMBERS: tuple[AbstractAttack, ...] = (
    Linkage(),
    TwoTasks(),
    Reconstruction(),
    Order(),
    Averaging(),
    Attribute(),
    Membership(),
    Poisoning(),
)

ATTACKS = {member.name: member for member in _MEMBERS}


def attack(name: str, **settings: Any) -> AbstractAttack:
    """The named attack with some settings changed.

    Raises `RequestError` for a name or a setting that does not exist.
    """
    known = registry.named(ATTACKS, name, "attack")
    return registry.changed(known, name, "attack", settings)
