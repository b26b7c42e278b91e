"""A device answers a task over slots that is extended: once per place and generation, up to a limit
that it pays for before its first answer.
"""

import json
import random
from itertools import count

import pytest
from block_twin import queried
from fake_collector import FakeCollector

from tacit.device.transport import Answer
from tacit.errors import BudgetError, CertificateError

NANO = 10**9
PROVIDER = "https://films.example"


@pytest.fixture
def chain(growing):
    """A task of 24 items, extended twice by 4 items, and the collector that offers it."""

    def made(plan="sample:6", *given, **changes):
        terms = {"items": range(24), "limit": 24, "epoch_seconds": 60} | changes
        first = growing(plan, *given, **terms)
        second = first.extended(range(100, 104), open_from=3)
        return first, second, second.extended(range(200, 204), open_from=5)

    return made


@pytest.fixture
def secrets(monkeypatch):
    """Sets the secret of the stores that are made from now on."""

    def fixed(secret):
        monkeypatch.setattr("tacit.device.storage.store.token_bytes", lambda size: secret)

    return fixed


def sent(collector):
    return {report["key"]: report for report in collector.reports}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("trial", range(8))
@pytest.mark.parametrize("plan", ["catalogue", "sample:6"])
def test_a_device_equals_a_twin(plan, trial, chain, device, clock, secrets):
    """Random lives: blocks, epochs, places and the ledger of an independent computation."""
    chance = random.Random(f"{plan} {trial}")
    secret = chance.randbytes(32)
    secrets(secret)
    limit, renewals = chance.choice((24, 26, 40)), chance.choice(((), (9,), (7, 12)))
    tasks = chain(plan, ("1", "2"), limit=limit, renewals=renewals)
    asks, expected, made = FakeCollector(list(tasks[:1])), {}, set()
    mine = device(asks, lifetime="1000")
    for epoch in sorted(chance.sample(range(16), 9)):
        clock.epoch(epoch)
        newest = tasks[min(epoch // 2, 2)]
        asks.tasks = [newest]
        for _ in range(3):
            mine.rate(chance.randrange(24), chance.randrange(1, 6))
        mine.sync()
        generation, total = sum(renewal <= epoch for renewal in renewals), 0
        starts = (0, 3, 5)
        for number, (key, places) in enumerate(queried(secret, newest.document, PROVIDER).items()):
            total += len(places)
            if places and total <= limit and epoch >= starts[number]:
                if (key, generation) not in made:
                    expected[key, epoch] = places
                made.add((key, generation))
        assert mine.ledger.spent == 2 * NANO * limit * (1 + len(renewals))
    reports = {
        (report["key"], report["epoch"]): [place for place, _ in report["cells"]]
        for report in asks.reports
    }
    assert reports == expected
    assert asks.conflicts() == []
    assert {report["schema"] for report in asks.reports} == {2}


def test_an_answer_is_drawn_once_whatever_is_rated_later(chain, device, clock):
    asks = FakeCollector([chain(renewals=(40,))[2]])
    drawn = []
    mine = device(asks, lifetime="200", words=lambda: drawn.append(0) or 5 << 60)
    clock.epoch(6)
    mine.sync()
    first, before = sent(asks), len(drawn)
    assert before == sum(len(report["cells"]) for report in first.values())
    for epoch in range(7, 40):
        clock.epoch(epoch)
        for item in asks.tasks[0].items:
            mine.rate(item, 1 + epoch % 5)
        mine.sync()
    assert (sent(asks), len(drawn)) == (first, before)
    clock.epoch(40)
    assert mine.sync().stored == len(first)
    assert len(drawn) == 2 * before
    again = [report for report in asks.reports if report["epoch"] == 40]
    assert {r["key"]: len(r["cells"]) for r in again} == {
        key: len(report["cells"]) for key, report in first.items()
    }
    answers = mine.export()["tasks"][0]
    assert len(answers["answers"]) == 2 * before
    assert len(answers["reported"]) == before
    assert {value for _, value, _ in answers["reported"]} == {str(1 + 39 % 5)}


def test_a_report_is_sent_unchanged_until_it_is_stored(chain, device, clock, tmp_path):
    asks = FakeCollector([chain(epoch_seconds=10**6)[2]])
    clock.now += 6 * 10**6
    for trial in range(6):
        clock.now += 7200
        asks.script = [None, Answer(503)] if trial < 5 else []
        with device(asks, tmp_path / "me.db") as mine:
            for item in asks.tasks[0].items:
                mine.rate(item, 1 + trial % 5)
            outcome = mine.sync()
    assert (outcome.waiting, asks.conflicts()) == (0, [])
    assert {len(texts) for texts in asks.payloads.values()} == {6}


def test_the_limit_is_paid_for_before_the_first_answer(chain, device, clock):
    """A device that cannot pay for everything sends nothing, at any time."""
    asks = FakeCollector([chain(renewals=(8,))[0]])
    mine = device(asks, lifetime="47.9")
    for epoch in range(12):
        clock.epoch(epoch)
        with pytest.raises(BudgetError, match="costs epsilon = 48"):
            mine.sync()
    assert (asks.uploads, mine.ledger.spent) == ([], 0)
    mine = device(asks, lifetime="48")
    mine.sync()
    assert (len(asks.reports), mine.ledger.left) == (1, 0)


def test_a_device_stops_at_its_limit(chain, device, clock, secrets):
    """Also before a smaller block that would fit: it has answered the first blocks."""
    for number in range(200):
        secret = number.to_bytes(32, "little")
        task = chain(limit=7)[2]
        sizes = [len(places) for places in queried(secret, task.document, PROVIDER).values()]
        if sizes[0] <= 7 < sizes[0] + sizes[1] and 0 < sizes[2] <= 7 - sizes[0]:
            break
    secrets(secret)
    asks = FakeCollector([task])
    mine = device(asks)
    clock.epoch(9)
    mine.sync()
    assert [len(report["cells"]) for report in asks.reports] == sizes[:1]


def test_all_answers_have_one_channel(chain, device, clock, tmp_path):
    asks = FakeCollector([chain(epsilons=("1", "2"))[0]])
    with device(asks, tmp_path / "me.db", most_epsilon="1") as mine:
        mine.sync()
        spent = mine.ledger.spent
    asks.tasks = [chain(epsilons=("1", "2"))[2]]
    clock.epoch(6)
    with device(asks, tmp_path / "me.db", most_epsilon="2") as mine:
        mine.sync()
        assert mine.ledger.spent == spent == 24 * NANO
    assert len({report["mech"] for report in asks.reports}) == 1
    with (
        device(asks, tmp_path / "me.db", most_epsilon="0.5") as mine,
        pytest.raises(CertificateError, match=r"requires epsilon = 1 or more per slot"),
    ):
        mine.sync()


def test_a_maximum_below_the_channel_of_earlier_answers_stops_the_device(
    chain, device, clock, tmp_path
):
    asks = FakeCollector([chain(epsilons=("1", "2"))[2]])
    with device(asks, tmp_path / "me.db", most_epsilon="2") as mine:
        mine.sync()
    clock.epoch(6)
    with (
        device(asks, tmp_path / "me.db", most_epsilon="1.5") as mine,
        pytest.raises(
            CertificateError, match=r"at epsilon = 2 per slot, above your maximum of 1\.5"
        ),
    ):
        mine.sync()
    assert len(asks.uploads) == 1


def test_another_extension_of_a_task_is_refused(chain, device, clock):
    first, second, _ = chain()
    asks = FakeCollector([second])
    mine = device(asks)
    mine.sync()
    asks.tasks = [first.extended(range(100, 104), open_from=4)]
    with pytest.raises(CertificateError, match="in two ways"):
        mine.sync()


@pytest.mark.parametrize("pairs", [40, pytest.param(1000, marks=pytest.mark.long)])
def test_requests_and_refusals_do_not_depend_on_ratings(pairs, chain, device, clock, secrets):
    """Two lives on one secret, whatever is rated and when: only symbols differ."""
    chance, numbers, contents = random.Random(9), count(), []
    for _ in range(pairs):
        secrets(next(numbers).to_bytes(32, "little"))
        lifetime, limit = str(chance.randrange(20, 60)), chance.randrange(6, 28)
        tasks = chain(limit=limit, renewals=(8,))
        epochs = sorted(chance.sample(range(12), 5))
        lives = [_life(device, clock, tasks, epochs, lifetime, chance) for _ in range(2)]
        assert lives[0][0] == lives[1][0]
        contents += [str(symbols) for _, symbols in lives if symbols]
    assert len(set(contents)) > 0.9 * len(contents)


def _life(device, clock, tasks, epochs, lifetime, chance):
    """All that a provider sees, and apart from it the symbols."""
    asks, seen, words = FakeCollector([tasks[0]]), [], []
    clock.epoch(0)
    mine = device(asks, lifetime=lifetime, words=lambda: words.append(0) or chance.getrandbits(64))
    for epoch in epochs:
        clock.epoch(epoch)
        asks.tasks = [tasks[min(epoch // 3, 2)]]
        for item in chance.sample(mine.task.items, chance.randrange(len(mine.task.items))):
            mine.rate(item, chance.choice((None, 1, 2, 3, 4, 5)))
        try:
            outcome = mine.sync()
            seen.append((outcome.stored, outcome.refused, len(words), mine.ledger.spent))
        except BudgetError as error:
            seen.append(str(error))
    mine.close()
    reports = [json.loads(texts[0]) for texts in asks.payloads.values()]
    symbols = [[symbol for _, symbol in report["cells"]] for report in reports]
    for report in reports:
        report["cells"] = [place for place, _ in report["cells"]]
    lengths = [len(texts[0]) for texts in asks.payloads.values()]
    return (seen, reports, lengths, asks.asked), symbols


def test_a_crash_during_the_draw_leaves_nothing(chain, device, clock, tmp_path):
    """Words run out at each place, and answers get lost: no place is answered twice."""
    chance, asks, crashes = random.Random(4), FakeCollector([chain(epoch_seconds=10**6)[2]]), 0
    clock.now += 6 * 10**6
    for trial in range(30):
        clock.now += 7200
        left = iter(range(trial))
        asks.script = [chance.choice((None, Answer(503), Answer(200))) for _ in range(3)]
        asks.stores = chance.random() < 0.5
        with device(asks, tmp_path / "me.db", words=lambda left=left: next(left)) as mine:
            try:
                outcome = mine.sync()
            except StopIteration:
                crashes += 1
                assert mine.export()["tasks"][0]["answers"] == []
                assert mine.ledger.spent == 0
    assert crashes > 0
    assert (outcome.waiting, asks.conflicts()) == (0, [])
    assert len({report["key"] for report in asks.reports}) == len(asks.reports) > 0


def test_two_providers_do_not_learn_of_each_other(growing, device, secrets):
    """One secret: names, block keys and report ids differ, because the provider enters."""
    secrets(bytes(32))
    seen = set()
    for provider in (PROVIDER, "https://books.example"):
        task = growing("sample:6", items=range(24), limit=24, epoch_seconds=60, provider=provider)
        asks = FakeCollector([task])
        device(asks, url=provider).sync()
        (report,) = asks.reports
        seen |= {report["key"], report["person"], report["id"]}
    assert len(seen) == 6
