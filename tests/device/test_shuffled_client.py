"""A bundle is paid for once, in full, before it is sent, and a retry sends the same bytes."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256

import pytest
from list_models import drawn
from shuffled_tasks import (
    CLOSES,
    ITEMS,
    PROVIDER,
    SHUFFLER,
    FakeShuffler,
    item_task,
    pair_task,
    star_task,
)  # fmt: skip

from tacit import fit, item_model, synthetic
from tacit.device.list_profile import ListProfile
from tacit.device.profile import Profile
from tacit.device.shuffled.client import ShuffledClient, ShuffledPolicy
from tacit.device.storage.store import Store
from tacit.device.storage.stored_rows import export
from tacit.device.transport import Answer
from tacit.errors import BudgetError, CertificateError, RequestError
from tacit.privacy.ledger import nano
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled.register import Closing, Register

KEY = TaskKey.generate()
POLICY = ShuffledPolicy(most_epsilon="8", honest="1", bundles=20)
FIRST = item_task(key=KEY.public)
RATINGS = {100: 5, "101": "1", 103: Decimal("2"), 999: "off every scale"}
COST = nano(FIRST.certificate.replaced)


@pytest.fixture
def device(clock):
    """Opens a device of shuffled tasks; closed in the end."""
    opened = []

    def made(shuffler, path=":memory:", **changes):
        options = {
            "policy": POLICY, "lifetime": "50", "transport": shuffler, "clock": clock,
            "random_share": lambda: 0.5,
        } | changes  # fmt: skip
        mine = ShuffledClient(path, SHUFFLER, PROVIDER, **options)
        opened.append(mine)
        return mine

    yield made
    for mine in opened:
        mine.close()


def messages(body: bytes) -> list[bytes]:
    return [body[at : at + 53] for at in range(0, len(body), 53)]


def test_one_bundle_per_task_of_constant_length(device):
    shuffler = FakeShuffler().add(FIRST)
    for items in ([], [100], ITEMS, [100, 100, "101", 7]):
        mine = device(shuffler)
        assert mine.sync(items).stored == 1
        assert mine.sync(ITEMS).stored == 0
        assert mine.ledger.spent == COST
    assert [len(body) for _, body in shuffler.bundles] == [FIRST.bundle_bytes] * 4


def test_the_provider_counts_the_user_s_items(device):
    shuffler = FakeShuffler().add(FIRST)
    opened = []
    for items in (["101", 102, 999], [102]):
        device(shuffler).sync(items)
        batch = messages(shuffler.bundles[-1][1])
        opened.append(KEY.open(batch, FIRST.address, FIRST.round.buckets).counts)
    # Own messages and fills differ by profile, and dummies are random: only totals are exact.
    assert [counts.sum() for counts in opened] == [43, 43]
    assert opened[0][1] >= 1
    assert min(opened[0][2], opened[1][2]) >= 1


def test_a_retry_sends_the_same_bytes_and_pays_nothing(device, clock, tmp_path):
    shuffler = FakeShuffler(script=[None, Answer(503), Answer(401)]).add(FIRST)
    for _ in range(4):
        with device(shuffler, tmp_path / "me.db") as mine:
            outcome = mine.sync([100])
            assert mine.ledger.spent == COST
        clock.now = max(clock.now, outcome.again or 0)
    assert (outcome.stored, outcome.waiting) == (1, 0)
    assert len(shuffler.bundles) == 4
    assert len(set(shuffler.bundles)) == 1


def test_nothing_leaves_before_debit_and_bundle_are_on_disk(device, tmp_path):
    path = tmp_path / "me.db"

    def transport(method, place, body=None, longest=0):
        if method == "POST":
            db = sqlite3.connect(path)
            assert db.execute("SELECT spent FROM person").fetchone() == (COST,)
            assert db.execute("SELECT bundle FROM shuffled").fetchone() == (body,)
            db.close()
        return shuffler(method, place, body, longest)

    shuffler = FakeShuffler().add(FIRST)
    assert device(transport, path).sync([100]).stored == 1


@pytest.mark.parametrize("draws", [0, 30])
def test_a_failure_during_the_draws_debits_nothing(device, draws):
    left = [0] * draws

    def words():
        if not left:
            raise OSError("no entropy")
        return left.pop()

    shuffler = FakeShuffler().add(FIRST)
    mine = device(shuffler, words=words)
    with pytest.raises(OSError, match="no entropy"):
        mine.sync([100, 101])
    assert (mine.ledger.spent, shuffler.bundles) == (0, [])


@pytest.mark.parametrize("status", [409, 410])
def test_a_refused_bundle_is_deleted_and_stays_paid(device, status):
    shuffler = FakeShuffler(script=[Answer(status)]).add(FIRST)
    mine = device(shuffler)
    outcome = mine.sync([100])
    assert (outcome.given_up, outcome.waiting, mine.ledger.spent) == (1, 0, COST)
    mine.sync([100])
    assert len(shuffler.bundles) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "policy",
    [replace(POLICY, most_epsilon="1"), replace(POLICY, honest="0.9"), replace(POLICY, bundles=21)],
)
def test_a_task_against_the_policy_is_refused_before_any_draw(device, policy):
    shuffler = FakeShuffler().add(FIRST)
    mine = device(shuffler, policy=policy)
    with pytest.raises(CertificateError, match="the policy allows"):
        mine.sync([100])
    assert (mine.ledger.spent, shuffler.bundles) == (0, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"most_epsilon": "1e3"}, {"most_epsilon": 8}, {"honest": "0"}, {"honest": "1.1"},
        {"honest": 0.8}, {"bundles": 0}, {"bundles": 1.5}, {"signed": "yes"},
    ],
)  # fmt: skip
def test_an_invalid_policy_is_refused(changes):
    with pytest.raises(RequestError):
        replace(POLICY, **changes)


@pytest.mark.parametrize("lifetime", ["abc", "1e10", "-1"])
def test_an_invalid_lifetime_is_refused(device, lifetime):
    with pytest.raises(RequestError, match="is not a plain decimal"):
        device(FakeShuffler(), lifetime=lifetime)


def test_a_task_without_signed_tokens_may_be_refused_before_any_draw(device):
    shuffler = FakeShuffler().add(FIRST)
    mine = device(shuffler, policy=replace(POLICY, signed=True))
    with pytest.raises(CertificateError, match="requires no signed tokens, but the policy does"):
        mine.sync([100])
    assert (mine.ledger.spent, shuffler.bundles) == (0, [])


def test_a_forged_task_is_refused_before_any_draw(device):
    weak = replace(FIRST.certificate, replaced="1")
    other = replace(FIRST, provider="https://books.example")
    for task, error in ((replace(FIRST, certificate=weak), "holds at delta"), (other, "is of")):
        shuffler = FakeShuffler()
        shuffler.register.add_task(task.address, PROVIDER)
        shuffler.tasks[task.address] = task
        mine = device(shuffler)
        with pytest.raises(CertificateError, match=error):
            mine.sync([100])
        assert (mine.ledger.spent, shuffler.bundles) == (0, [])


def test_a_register_that_was_rewritten_is_refused(device):
    """A shuffler that shows a victim a task of their own must show it to everybody later."""
    shuffler = FakeShuffler().add(item_task(name="Books", provider="https://books.example"))
    mine = device(shuffler)
    mine.sync([100])
    shuffler.register = Register()
    shuffler.add(FIRST)
    with pytest.raises(CertificateError, match="another list of tasks"):
        mine.sync([100])
    assert (mine.ledger.spent, shuffler.bundles) == (0, [])


def test_the_lifetime_limit_refuses_a_task(device):
    shuffler = FakeShuffler().add(FIRST)
    mine = device(shuffler, lifetime="1")
    with pytest.raises(BudgetError, match="is left"):
        mine.sync([100])
    assert (mine.ledger.spent, shuffler.bundles) == (0, [])


def test_a_closed_task_is_not_answered(device, clock):
    clock.now = CLOSES
    shuffler = FakeShuffler().add(FIRST)
    mine = device(shuffler)
    assert mine.sync([100]).waiting == 0
    assert (mine.ledger.spent, shuffler.bundles) == (0, [])


class TestSecondRound:
    """The announced round is paid with the first task; every other one is a new debit in full."""

    def after(self, device, *tasks, first=True):
        shuffler = FakeShuffler()
        mine = device(shuffler)
        tasks = (FIRST, *tasks) if first else tasks
        for task in tasks:
            shuffler.add(task)
            assert mine.sync(ITEMS).stored == 1
            shuffler.register.add_closing(task.address, Closing(bundles=20, batch="0" * 64))
        assert [address for address, _ in shuffler.bundles] == [task.address for task in tasks]
        return mine.ledger.spent

    def test_the_announced_round_is_paid_already(self, device):
        assert self.after(device, pair_task(FIRST)) == COST

    def test_without_the_first_round_it_is_paid_in_full(self, device):
        assert self.after(device, pair_task(FIRST), first=False) == COST

    def test_a_second_announced_round_is_paid_in_full(self, device):
        other = pair_task(FIRST, ITEMS[1:])
        assert self.after(device, pair_task(FIRST), other) == 2 * COST

    def test_a_round_that_was_not_announced_is_paid_in_full(self, device):
        alone = item_task(None, name="Again", key=KEY.public)
        assert self.after(device, alone) == COST + nano(alone.certificate.replaced)


def test_erasure_deletes_the_bundle_and_answers_no_task_twice(device, tmp_path):
    path = tmp_path / "me.db"
    shuffler = FakeShuffler(script=[None]).add(FIRST)
    with device(shuffler, path) as mine:
        assert mine.sync([100]).waiting == 1
    with closing(Store(path, nano("50"))) as store:
        assert export(store)["shuffled"] == [{"task": FIRST.address, "waiting": True}]
        with store.transaction():
            store.forget()
    with device(shuffler, path) as mine:
        mine.sync([101])
        assert mine.ledger.spent == COST
    assert len(shuffler.bundles) == 1


def test_items_must_be_a_collection(device):
    with pytest.raises(RequestError, match="collection of item ids"):
        device(FakeShuffler()).sync("100")


def test_between_tasks_a_device_says_that_it_is_ready(device):
    """Whatever its items: nothing is drawn, and the body is empty."""
    shuffler = FakeShuffler()
    for items in ([], ITEMS):
        mine = device(shuffler)
        mine.sync(items)
        assert mine.ledger.spent == 0
    assert shuffler.asked == ["/v1/register", "/v1/ready"] * 2
    shuffler.add(FIRST)
    mine = device(shuffler)
    mine.sync([])
    mine.sync([])
    assert shuffler.asked[4:].count("/v1/ready") == 0


class FakeProvider:
    """A transport to the provider's collector, which serves one model."""

    def __init__(self, document, address=None):
        self.document, self.asked = document, []
        self.address = address or sha256(document).hexdigest()

    def __call__(self, method, path, body=None, longest=0):
        assert (method, body) == ("GET", None)
        self.asked.append(path)
        if path.startswith("/v1/models/"):
            return Answer(200, self.document)
        return Answer(200, json.dumps({"model": self.address}).encode())


def test_a_device_fetches_the_list_of_the_last_released_task(device, tmp_path):
    model = drawn(len(ITEMS), 0, 2).model
    provider, shuffler = FakeProvider(model.to_bytes()), FakeShuffler()
    released, dropped = item_task(name="Old"), item_task(name="New")
    mine = device(shuffler, tmp_path / "me.db", downloads=provider)
    mine.sync(ITEMS[:2])
    with pytest.raises(RequestError, match="No item model"):
        mine.recommend(ITEMS[:2])
    for task, batch in ((released, "0" * 64), (dropped, None)):
        shuffler.register.add_task(task.address, PROVIDER)
        shuffler.register.add_closing(task.address, Closing(bundles=20, batch=batch))
    for _ in range(2):
        mine.sync(ITEMS[:2])
    newest = f"/v1/tasks/{released.address}/model"
    assert provider.asked == [newest, f"/v1/models/{provider.address}", newest]
    assert mine.recommend(ITEMS[:2], 3) == ListProfile(model, ITEMS[:2]).recommend(3)


def test_a_changed_or_wrong_model_is_refused(device):
    shuffler = FakeShuffler()
    shuffler.register.add_task(FIRST.address, PROVIDER)
    shuffler.register.add_closing(FIRST.address, Closing(bundles=20, batch="0" * 64))
    document = drawn(len(ITEMS), 0, 2).model.to_bytes()
    with pytest.raises(CertificateError, match="changed in transit"):
        device(shuffler, downloads=FakeProvider(document, "0" * 64)).sync([])


class TestStars:
    """Tasks about star ratings take ratings by item id, and all else is as before."""

    STAR = star_task(key=KEY.public)

    def test_one_bundle_per_task_of_constant_length(self, device):
        shuffler = FakeShuffler().add(self.STAR)
        for ratings in ({}, {100: 1}, RATINGS, dict.fromkeys(ITEMS, 3)):
            mine = device(shuffler)
            assert mine.sync(ratings).stored == 1
            assert mine.sync(ratings).stored == 0
            assert mine.ledger.spent == nano(self.STAR.certificate.replaced)
        assert [len(body) for _, body in shuffler.bundles] == [self.STAR.bundle_bytes] * 4

    def test_the_provider_counts_signs(self, device):
        """The least and the greatest rating have a certain sign."""
        shuffler = FakeShuffler().add(self.STAR)
        for rating, first in ((1, 0), (5, 8)):
            device(shuffler).sync(dict.fromkeys(ITEMS[:3], rating))
            batch = messages(shuffler.bundles[-1][1])
            counts = KEY.open(batch, self.STAR.address, 28).counts
            assert counts.sum() == 43
            assert counts[first : first + 3].min() >= 1

    def test_both_rounds_are_one_debit(self, device):
        shuffler, second = FakeShuffler().add(self.STAR), pair_task(self.STAR)
        mine = device(shuffler)
        assert mine.sync(RATINGS).stored == 1
        shuffler.register.add_closing(self.STAR.address, Closing(bundles=20, batch="0" * 64))
        shuffler.add(second)
        assert mine.sync(RATINGS).stored == 1
        assert mine.ledger.spent == nano(self.STAR.certificate.replaced)

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("task", "items", "reason"),
        [
            (STAR, [100], "pass ratings by item id"),
            (FIRST, {100: 5}, "pass a collection of ids"),
            (STAR, {100: 6}, "not on the scale 1:5:1"),
            (STAR, {100: 5, "100": 5}, "an item twice"),
        ],
    )
    def test_other_items_are_refused_and_nothing_is_spent(self, device, task, items, reason):
        shuffler = FakeShuffler().add(task)
        mine = device(shuffler)
        with pytest.raises(RequestError, match=reason):
            mine.sync(items)
        assert (mine.ledger.spent, shuffler.bundles) == (0, [])

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("draws", [0, 3, 30])
    def test_a_failure_during_the_draws_debits_nothing(self, device, draws):
        """Also where items are drawn, and no sign."""
        left = [0] * draws

        def words():
            if not left:
                raise OSError("no entropy")
            return left.pop()

        shuffler = FakeShuffler().add(self.STAR)
        mine = device(shuffler, words=words)
        with pytest.raises(OSError, match="no entropy"):
            mine.sync(dict.fromkeys(ITEMS[:3], 3))
        assert (mine.ledger.spent, shuffler.bundles) == (0, [])

    def test_a_rating_model_recommends_from_ratings(self, device, tmp_path):
        data = synthetic(n_users=40, n_items=60, n_ratings=900, rng=5)
        model = item_model(fit("bias", data))
        provider, shuffler = FakeProvider(model.to_bytes()), FakeShuffler()
        shuffler.register.add_task(self.STAR.address, PROVIDER)
        shuffler.register.add_closing(self.STAR.address, Closing(bundles=20, batch="0" * 64))
        mine = device(shuffler, tmp_path / "me.db", downloads=provider)
        mine.sync({})
        own = {1: "4", "2": 1, 5: Decimal(5)}
        expected = Profile(model, {1: 4.0, 2: 1.0, 5: 5.0}).recommend(4)
        assert mine.recommend(own, 4) == expected
        with pytest.raises(RequestError, match="pass ratings by item id"):
            mine.recommend([1, 2], 4)
        with pytest.raises(RequestError, match="not on the scale"):
            mine.recommend({1: "4.5"}, 4)
