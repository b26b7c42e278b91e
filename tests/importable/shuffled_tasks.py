"""Small shuffled tasks, whose certificates are computed, and a shuffler in a few lines."""

from dataclasses import dataclass, field, replace
from functools import cache

from tacit.device.transport import Answer
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.scale import RatingScale
from tacit.wire.shuffled.register import Register
from tacit.wire.shuffled.round_terms import pair_buckets_of
from tacit.wire.shuffled.task import ShuffledTask

PROVIDER, SHUFFLER = "https://films.example", "https://shuffler.example"
ITEMS = tuple(range(100, 108))
ITEM_ROUND = ShuffledRound(buckets=28, messages=3, dummies=40)
LEAST_PAIRS = ShuffledRound(buckets=21, messages=2, dummies=21)
SCALE = RatingScale.parse("1:5:1")
LEAST_STARS = ShuffledRound(buckets=330, messages=2, dummies=330)
MEANS = (3500, 1000, 2999, 3001, 4250, 5000, 3000, 2750)
"""Means of the items, in thousandths."""
CLOSES = 2_000


@cache
def certificate(*rounds, bundles=20, replaced=None):
    return ShuffledCertificate.of(
        rounds, bundles=bundles, honest="1", delta="0.0001", replaced=replaced
    )


def item_task(announced=LEAST_PAIRS, **changes) -> ShuffledTask:
    rounds = (ITEM_ROUND,) if announced is None else (ITEM_ROUND, announced)
    usual = {
        "name": "Films", "provider": PROVIDER, "shuffler": SHUFFLER,
        "about": "items", "items": ITEMS,
        "certificate": certificate(*rounds), "key": bytes(31) + b"\x09", "closes": CLOSES,
    }  # fmt: skip
    return ShuffledTask(**usual | changes)


def star_task(announced=LEAST_STARS, **changes) -> ShuffledTask:
    """The first task about star ratings of the same items."""
    rounds = (ITEM_ROUND,) if announced is None else (ITEM_ROUND, announced)
    return item_task(None, **{"certificate": certificate(*rounds), "scale": SCALE} | changes)


def pair_task(first: ShuffledTask, head=ITEMS[:7], messages=2, **changes) -> ShuffledTask:
    """The second task: at least the announced dummies per bucket."""
    buckets = pair_buckets_of(len(head), signed=first.scale is not None)
    dummies = -(-first.announced.dummies * buckets // first.announced.buckets)
    pairs = ShuffledRound(buckets=buckets, messages=messages, dummies=dummies)
    claim = certificate(
        first.certificate.rounds[0], pairs,
        bundles=first.certificate.bundles, replaced=first.certificate.replaced,
    )  # fmt: skip
    means = None if first.scale is None else MEANS[: len(head)]
    second = {
        "about": "pairs", "items": head, "certificate": claim, "first": first.address,
        "means": means,
    }  # fmt: skip
    return replace(first, **second | changes)


def drawing(task: ShuffledTask, messages: int) -> ShuffledTask:
    """The task with another number of own messages, which its certificate does not cover."""
    drawn = replace(task.round, messages=messages)
    rounds = tuple(drawn if each == task.round else each for each in task.certificate.rounds)
    return replace(task, certificate=replace(task.certificate, rounds=rounds))


@dataclass
class FakeShuffler:
    """A transport. `bundles`: all bodies by task, acknowledged or not. `script`: as elsewhere."""

    tasks: dict[str, ShuffledTask] = field(default_factory=dict)
    register: Register = field(default_factory=Register)
    bundles: list[tuple[str, bytes]] = field(default_factory=list)
    script: list[Answer | None] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def add(self, *tasks):
        for task in tasks:
            self.register.add_task(task.address, task.provider)
            self.tasks[task.address] = task
        return self

    def __call__(self, method, path, body=None, longest=0):
        self.asked.append(path)
        if path == "/v1/register":
            return Answer(200, self.register.document)
        if path == "/v1/ready":
            assert (method, body) == ("POST", b"")
            return Answer(200)
        address = path.split("/")[3]
        if method == "GET":
            return Answer(200, self.tasks[address].document)
        self.bundles.append((address, body))
        return self.script.pop(0) if self.script else Answer(200)
