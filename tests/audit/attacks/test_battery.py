"""Every attack of the registry, by the whole battery."""

from dataclasses import replace

import pytest

from tacit.audit.attacks import ATTACKS, attack
from tacit.audit.attacks.protocol import Finding
from tacit.errors import RequestError
from tacit.models import ChannelMF
from tacit.testing.attacks import ATTACK_CLAIMS, check_attack, worlds


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", list(ATTACKS))
@pytest.mark.parametrize("claim", ATTACK_CLAIMS, ids=lambda claim: claim.__name__)
def test_every_attack_holds_every_claim(name, claim):
    claim(attack(name, **QUICK.get(name, {})))


def test_an_attack_is_looked_up_by_name_and_changed():
    assert attack("linkage", known=(3,)).known == (3,)
    with pytest.raises(RequestError, match="attack must be one of linkage, "):
        attack("likage")
    with pytest.raises(RequestError, match="Attack linkage has no setting 'k'"):
        attack("linkage", k=3)


QUICK = {
    "aliases": {"ids": (1, 3), "titles": 120},
    "averaging": {"syncs": 12, "slots": 500},
    "membership": {"models": 8, "epsilons": ("1",)},
    "poisoning": {"targets": 3, "model": ChannelMF(factors=2, directions=0, burn_in=8, draws=4)},
}


@pytest.mark.long
@pytest.mark.parametrize("name", list(ATTACKS))
def test_clean_reports_and_trainings_accuse_nobody_in_twenty_runs(name):
    chosen = attack(name, **QUICK.get(name, {}))
    for seed in range(20):
        clean = worlds(seed)
        for world in {"ratings": clean[:1], "channel": clean[1:]}.get(chosen.needs, clean):
            leaks = [found for found in chosen.run(world) if found.leaks]
            assert not leaks, (seed, leaks[0])


class Careless:
    """An attack with one fault."""

    name, baseline, needs = "careless", "a guess", "reports"
    knows = "The attacker has everything that there is, and knows the rest."

    def __init__(self):
        self.turn, self.changes = 0, {}

    def run(self, world):
        self.turn += 1
        fine = Finding(setting="s", figure="f", value=0.5, baseline=0.1, count=9, bound=0.6)
        return [replace(fine, **{k: v(self.turn) for k, v in self.changes.items()})]


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("knows", "A server is attacked.", "must be a sentence about the attacker"),
        ("baseline", "", "and ''"),
        ("changes", {"value": lambda turn: 1.2}, "outside its range"),
        ("changes", {"value": lambda turn: float("nan")}, "outside its range"),
        ("changes", {"value": lambda turn: turn / 100}, "returns different findings"),
        ("changes", {"bound": lambda turn: 0.4}, "leak"),
        ("changes", {"count": lambda turn: 0}, "a count below 1"),
    ],
)
def test_the_battery_convicts(attribute, value, words):
    check_attack(Careless())
    faulty = Careless()
    setattr(faulty, attribute, value)
    with pytest.raises(AssertionError, match=words):
        check_attack(faulty)
