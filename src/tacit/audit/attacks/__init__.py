"""Attack scenarios: what an attacker infers from reports and models.

Attacks in `ATTACKS` are available to `tacit attack` and the test suite of `tacit.testing.attacks`.
All of them are experiments: they are evaluated against true ratings, so their results are as
private as those.
"""

from typing import Any

from tacit import registry
from tacit.audit.attacks.attribute import Attribute
from tacit.audit.attacks.averaging import Averaging
from tacit.audit.attacks.chains.aliases import Aliases
from tacit.audit.attacks.chains.at_limit import ChainLinkage, PoolInference
from tacit.audit.attacks.chains.thin_block import ThinBlock
from tacit.audit.attacks.changes import Changes
from tacit.audit.attacks.exposure import Exposure
from tacit.audit.attacks.linkage import Linkage, TwoTasks
from tacit.audit.attacks.membership import Membership
from tacit.audit.attacks.order import Order
from tacit.audit.attacks.poisoning import Poisoning
from tacit.audit.attacks.protocol import AbstractAttack
from tacit.audit.attacks.reconstruction import Reconstruction

_MEMBERS: tuple[AbstractAttack, ...] = (
    Linkage(),
    TwoTasks(),
    Reconstruction(),
    Order(),
    Averaging(),
    Changes(),
    Aliases(),
    ChainLinkage(),
    PoolInference(),
    ThinBlock(),
    Attribute(),
    Membership(),
    Exposure(),
    Poisoning(),
)

ATTACKS = {member.name: member for member in _MEMBERS}


def attack(name: str, **settings: Any) -> AbstractAttack:
    """Return the named attack with `settings` changed.

    Raises `RequestError` for an unknown name or setting.
    """
    known = registry.named(ATTACKS, name, "attack")
    return registry.changed(known, name, "attack", settings)
