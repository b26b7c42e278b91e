"""What is due, what it costs, and that nothing is ever drawn twice."""

import random
from decimal import Decimal
from fractions import Fraction
from math import exp, sqrt

import pytest

from tacit.device.transport import Answer
from tacit.errors import BudgetError, RequestError
from tacit.privacy.ledger import NANO

TROUBLE = [None, Answer(503), Answer(409, b'{"refused":[]}')]


def spent(mine):
    return Fraction(mine.ledger.spent, NANO)


def cells(collector):
    """(epoch, place, symbol) of every distinct report."""
    return [(r["epoch"], *cell) for r in collector.reports for cell in r["cells"]]


def test_a_rating_is_reported_once(collector, device, clock):
    asks = collector()
    mine = device(asks)
    mine.rate(100, "4")
    mine.rate("103", 2)
    for _ in range(100):
        mine.sync()
    for epoch in range(1, 101):
        clock.epoch(epoch)
        assert mine.sync().stored == 0
    assert [(epoch, place) for epoch, place, _ in cells(asks)] == [(0, 0), (0, 3)]
    assert sum(map(len, asks.uploads)) == 2
    assert spent(mine) == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["catalogue", "sample:4"])
def test_slots_repeat_their_answers(collector, device, clock, plan):
    asks = collector(plan, epsilons=("0.5",))
    mine = device(asks)
    mine.rate(101, 5)
    for epoch in range(101):
        clock.epoch(epoch)
        assert mine.sync().stored == 1
        assert mine.sync().stored == 0
    assert len(asks.reports) == 101
    assert len({str(report["cells"]) for report in asks.reports}) == 1
    assert spent(mine) == Fraction(1, 2) * (6 if plan == "catalogue" else 4)


def test_a_new_rating_waits_for_the_next_epoch(collector, device, clock):
    asks = collector()
    mine = device(asks)
    for epoch, rating in enumerate(["4", "1", "1", "4", "4"]):
        clock.epoch(epoch)
        mine.rate(100, 3 if epoch == 0 else rating)
        if epoch == 0:
            mine.sync()
            mine.rate(100, rating)
        mine.sync()
    sent = {epoch: symbol for epoch, _, symbol in cells(asks)}
    assert sorted(sent) == [0, 1, 3]
    assert spent(mine) == 3  # 3, 1 and 4; what was told in epoch 0 is 3 alone
    clock.epoch(7)
    mine.rate(100, 1)
    mine.sync()
    assert cells(asks)[-1] == (7, 0, sent[1])
    assert spent(mine) == 3


def test_a_rating_taken_back_is_missing_again(collector, device, clock):
    asks = collector("catalogue")
    mine = device(asks)
    mine.sync()
    first = cells(asks)
    mine.rate(102, 5)
    mine.rate(102, None)
    clock.epoch(1)
    mine.sync()
    assert [cell[1:] for cell in cells(asks)[6:]] == [cell[1:] for cell in first]
    assert mine.ratings == {}
    assert spent(mine) == 6


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_a_clock_set_back_makes_no_second_report(plan, collector, device, clock):
    asks = collector(plan, epsilons=("0.1",))
    mine = device(asks)
    for turn, epoch in enumerate((0, 1, 2, 0, 1, 2, 3, 0)):
        clock.epoch(epoch)
        for item in range(100, 106):
            mine.rate(item, 1 + turn % 5)
        mine.sync()
    assert asks.conflicts() == []
    once = [(epoch, place) for epoch in range(4) for place in range(6)]
    assert [(epoch, place) for epoch, place, _ in cells(asks)] == once


def test_a_task_that_has_not_begun_is_not_answered(collector, device, clock):
    asks = collector("catalogue")
    mine = device(asks)
    clock.epoch(-1)
    mine.sync()
    assert (asks.uploads, spent(mine)) == ([], 0)


def test_what_the_limit_does_not_allow_is_refused(collector, device, clock):
    asks = collector()
    mine = device(asks, lifetime="2.5")
    for item in range(100, 104):
        mine.rate(item, 1)
    refusal = mine.sync().refusal
    assert isinstance(refusal, BudgetError)
    assert "costs epsilon = 1, but 0.5 of your lifetime budget of 2.5 is left" in str(refusal)
    assert [place for _, place, _ in cells(asks)] == [0, 1]
    assert spent(mine) == 2
    clock.epoch(1)
    mine.rate(100, 2)
    assert mine.sync().refusal
    assert mine.sync().refusal
    assert len(cells(asks)) == 2
    mine.rate(100, 1)
    for item in (102, 103):
        mine.rate(item, None)
    assert mine.sync().refusal is None


def test_slots_begin_all_or_nothing(collector, device, clock):
    asks = collector("catalogue")
    mine = device(asks, lifetime="5.9")
    with pytest.raises(BudgetError, match=r"epsilon = 6, but 5\.9 of your lifetime budget of 5\.9"):
        mine.sync()
    assert (asks.uploads, spent(mine)) == ([], 0)


def test_slots_go_on_when_nothing_is_left(collector, device, clock):
    asks = collector("catalogue")
    mine = device(asks, lifetime="7")
    mine.sync()
    first = {place: symbol for _, place, symbol in cells(asks)}
    for item in range(100, 106):
        mine.rate(item, 3)
    clock.epoch(1)
    outcome = mine.sync()
    assert outcome.stored == 1
    assert "0 of your lifetime budget of 7 is left" in str(outcome.refusal)
    second = {place: symbol for epoch, place, symbol in cells(asks) if epoch == 1}
    assert [second[place] for place in range(1, 6)] == [first[place] for place in range(1, 6)]
    assert spent(mine) == 7
    clock.epoch(2)
    mine.sync()
    assert {place: s for epoch, place, s in cells(asks) if epoch == 2} == second
    assert len({len(sent[0]) for sent in asks.payloads.values()}) == 1


def test_another_maximum_is_another_channel(collector, device, clock, tmp_path):
    asks = collector("catalogue", epsilons=("1", "2"))
    path = tmp_path / "me.db"
    costs = []
    for epoch, most in enumerate(["1.5", "2", "1.9", "2"]):
        clock.epoch(epoch)
        with device(asks, path, most_epsilon=most) as mine:
            mine.sync()
            costs.append(spent(mine))
    assert costs == [6, 18, 18, 18]
    mechs = [report["mech"] for report in asks.reports]
    assert mechs[0] == mechs[2] != mechs[1] == mechs[3]
    assert asks.reports[0]["cells"] == asks.reports[2]["cells"]
    with device(asks, path, lifetime="18", most_epsilon="1") as mine:
        for item in range(100, 106):
            mine.rate(item, 2)
        clock.epoch(9)
        mine.sync()
    assert asks.reports[-1]["cells"] == asks.reports[0]["cells"]


def test_a_channel_one_goes_back_to_repeats_what_it_said(collector, device, clock, tmp_path):
    """All or nothing is the first report through a channel; silence later on would tell."""
    asks = collector("catalogue", epsilons=("1", "2"))
    path = tmp_path / "me.db"
    for epoch, (most, rating) in enumerate([("1", 5), ("2", 4), ("1", 3), ("1", None)]):
        clock.epoch(epoch)
        with device(asks, path, most_epsilon=most, lifetime="19") as mine:
            for item in range(100, 106):
                mine.rate(item, rating)
            outcome = mine.sync()
            assert outcome.stored == 1
            assert bool(outcome.refusal) == (epoch >= 2)
            assert spent(mine) == (6, 18, 19, 19)[epoch]
    first, _, third, fourth = [report["cells"] for report in asks.reports]
    assert first[1:] == third[1:]  # one cell could be paid for
    assert third == fourth  # which is what this channel said last, though it was not at first


@pytest.mark.parametrize("rated", [0, 1, 6])
def test_what_a_first_report_costs_does_not_hang_on_what_was_rated(
    rated, collector, device, clock, tmp_path
):
    asks = collector("catalogue", epsilons=("1", "2"))
    path = tmp_path / "me.db"
    for item, most in enumerate(["1", "2"]):
        clock.epoch(item)
        with device(asks, path, most_epsilon=most, lifetime="17") as mine:
            for place in range(rated * item):
                mine.rate(100 + place, 3)
            if most == "1":
                mine.sync()
            else:
                with pytest.raises(
                    BudgetError, match=r"epsilon = 12, but 11 of your lifetime budget of 17"
                ):
                    mine.sync()
    assert len(asks.reports) == 1


def test_under_rated_another_maximum_makes_nothing_due(collector, device, clock, tmp_path):
    asks = collector(epsilons=("1", "2"))
    told = []
    lives = [(0, "1", 3), (1, "2", 3), (6, "2", 4), (7, "1", 4), (5, "1", 3), (8, "2", 3)]
    for epoch, most, rating in lives:  # a clock that is set back, too
        clock.epoch(epoch)
        with device(asks, tmp_path / "me.db", most_epsilon=most) as mine:
            mine.rate(100, rating)
            told.append((mine.sync().stored, spent(mine)))
    # The fifth is the first answer again: 3 was not what was told last, through any channel.
    assert told == [(1, 1), (0, 1), (1, 3), (0, 3), (1, 3), (0, 3)]
    assert [report["epoch"] for report in asks.reports] == [0, 5, 6]
    assert asks.reports[0]["cells"] == asks.reports[1]["cells"]


def lives(asks, device, clock, count):
    """Random lives, each beside an oracle in fractions: what was told, and what it cost."""
    chance = random.Random(count)
    for life in range(count):
        asks.script = []
        limit = Fraction(chance.randrange(1, 40), 4)
        clock.epoch(0)
        mine = device(asks, lifetime=str(float(limit)))
        truth, last, told, paid, epoch, at = {}, {}, set(), Fraction(0), 0, {}
        for _ in range(chance.randrange(1, 9)):
            if chance.random() < 0.3:
                epoch += chance.randrange(1, 3)
                clock.epoch(epoch)
            for _ in range(chance.randrange(4)):
                item, rating = chance.randrange(3), chance.randrange(1, 6)
                truth[item] = rating
                mine.rate(100 + item, rating)
            if chance.random() < 0.3:
                asks.script = [None, Answer(503), Answer(409, b'{"refused":[]}')][
                    : chance.randrange(4)
                ]
            due = [i for i in sorted(truth) if last.get(i) != truth[i] and at.get(i) != epoch]
            refused = False
            for item in due:
                new = (item, truth[item]) not in told
                if new and paid + Fraction(3, 4) > limit:
                    refused = True
                    continue
                paid += Fraction(3, 4) * new
                told.add((item, truth[item]))
                last[item], at[item] = truth[item], epoch
            assert bool(mine.sync().refusal) == refused
            assert spent(mine) == paid <= limit
        mine.close()
        assert asks.conflicts() == [], life


def test_random_lives_equal_fractions(collector, device, clock):
    lives(collector(epsilons=("0.75",)), device, clock, 50)


@pytest.mark.long
def test_ten_thousand_random_lives_equal_fractions(collector, device, clock):
    lives(collector(epsilons=("0.75",)), device, clock, 10_000)


def test_averaging_gains_nothing(collector, device, clock):
    """Whoever sees 100 syncs of one rating guesses it as well as from one, and no better."""
    asks = collector(items=range(400), epsilons=("1",))
    mine = device(asks, lifetime="999")
    chance = random.Random(5)
    truth = {item: chance.randrange(1, 6) for item in range(400)}
    for item, rating in truth.items():
        mine.rate(item, rating)
    for epoch in range(100):
        clock.epoch(epoch)
        mine.sync()
    seen = {}
    for _, place, symbol in cells(asks):
        seen.setdefault(place, []).append(symbol)
    # The most likely rating given all reports on it: under randomized response, the commonest.
    right = sum(max(set(s), key=s.count) + 1 == truth[place] for place, s in seen.items())
    bound = exp(1) / (exp(1) + 4)
    assert right / 400 <= bound + 5 * sqrt(bound * (1 - bound) / 400)
    assert bound + 5 * sqrt(bound * (1 - bound) / 400) < 0.6  # 100 fresh reports would give 1.0


def test_off_the_scale_is_refused_before_the_draw(collector, device):
    asks = collector()
    drawn = []
    mine = device(asks, words=lambda: drawn.append(0) or 0)
    for rating in ("6", "3.5", "nan", "sNaN", "", "four", 0, Decimal("1e99")):
        with pytest.raises(RequestError, match="not on the scale 1:5:1") as error:
            mine.rate(100, rating)
        assert not rating or str(rating) not in str(error.value).replace("1:5:1", "")
    with pytest.raises(RequestError, match="not in the task's catalogue"):
        mine.rate(99, 3)
    mine.sync()
    assert (drawn, asks.uploads, mine.ratings) == ([], [], {})


@pytest.mark.parametrize(("plan", "told"), [("rated", [1, 4]), ("catalogue", [0, 2, 0, 0, 5, 0])])
def test_a_device_answers_from_its_rows_in_order(plan, told, collector, device):
    # At this epsilon all words but the first and the last few draw the symbol of the row itself.
    asks = collector(plan, epsilons=("16",))
    mine = device(asks, most_epsilon="16", lifetime="1000", words=lambda: 1 << 63)
    mine.rate(101, 2)
    mine.rate(104, 5)
    mine.sync()
    assert [symbol for _, _, symbol in cells(asks)] == told
