"""The outbox: the same bytes until they are acknowledged, refused for good, or too late."""

import json
import re

import pytest

from tacit.device.outbox import some_share
from tacit.device.provider import LONGEST_WAIT
from tacit.device.transport import Answer
from tacit.wire.report import LONGEST_UPLOAD


def rated(collector, device, **changes):
    asks = collector()
    mine = device(asks, **changes)
    for item in range(100, 106):
        mine.rate(item, 1 + item % 5)
    return asks, mine


def refusing(status, problem, ids):
    refused = [{"id": report, "problem": problem, "detail": "no"} for report in ids]
    return Answer(status, json.dumps({"status": status, "refused": refused}).encode())


def test_a_lost_answer_brings_the_same_bytes_again(collector, device, clock):
    asks, mine = rated(collector, device)
    for stores in (True, False, True):
        asks.script, asks.stores = [None], stores
        outcome = mine.sync()
        assert (outcome.stored, outcome.waiting) == (0, 6)
        clock.now = outcome.again
    # True ratings may change meanwhile; what was drawn does not.
    mine.rate(100, 5)
    outcome = mine.sync()
    assert (outcome.stored, outcome.waiting, outcome.again) == (7, 0, None)
    assert asks.conflicts() == []
    assert sorted(len(sent) for sent in asks.payloads.values()) == [1] + [3] * 6


def test_a_kept_store_sends_the_same_bytes_after_it_was_closed(collector, device, clock, tmp_path):
    asks, mine = rated(collector, device, path=tmp_path / "me.db")
    asks.script = [None]
    mine.sync()
    mine.close()
    clock.now += 100
    assert device(asks, tmp_path / "me.db").sync().stored == 6
    assert [len(sent) for sent in asks.payloads.values()] == [2] * 6
    assert asks.conflicts() == []


@pytest.mark.parametrize("failure", [None, *map(Answer, (408, 429, 431, 500, 503))])
def test_not_now_is_tried_again_later_and_later(collector, device, clock, failure):
    shares = iter([0.0, 1.0, 0.5] + [1.0] * 9)
    asks, mine = rated(collector, device, random_share=lambda: next(shares))
    waits = []
    for _ in range(11):
        asks.script, asks.stores = [failure], False
        outcome = mine.sync()
        assert outcome.waiting == 6
        waits.append((outcome.again or clock.now) - clock.now)
        clock.now = outcome.again or clock.now
    assert waits == [0, 120, 120, 480, 960, 1920, 3840, 7200, 7200, 7200, 7200]
    assert max(waits) == LONGEST_WAIT
    assert asks.payloads == {}


def test_it_is_silent_until_then_and_forgets_a_failure_that_is_over(collector, device, clock):
    asks, mine = rated(collector, device, random_share=lambda: 1.0)
    asks.script = [Answer(503, retry_after=1000)]
    assert mine.sync().again == clock.now + 1060
    calls = len(asks.asked)
    clock.now += 1059
    assert mine.sync().waiting == 6
    assert len(asks.asked) == calls
    clock.now += 1
    assert mine.sync().stored == 6
    clock.epoch(50)
    mine.rate(100, 5)
    asks.script = [None]
    assert mine.sync().again == clock.now + 60


def test_only_an_outbox_that_got_through_ends_a_failure(collector, device, clock):
    asks, mine = rated(collector, device, random_share=lambda: 1.0)
    spans = []
    for answer in (Answer(503), Answer(403), None, Answer(200), Answer(500)):
        asks.script, asks.stores = [answer], False
        mine.rate(100, 5 if answer == Answer(500) else 1)
        if answer == Answer(500):
            clock.epoch(50)
        outcome = mine.sync()
        spans.append((outcome.again or clock.now) - clock.now)
        clock.now = outcome.again or clock.now
    assert spans == [60, 0, 120, 0, 60]


def test_an_empty_outbox_got_nothing_through(collector, device, clock):
    asks = collector()
    mine = device(asks, random_share=lambda: 1.0)
    mine.rate(100, 3)
    mine.sync()
    spans = []
    for epoch in (1, 2):
        clock.epoch(10 * epoch)
        mine.rate(100, 3 + epoch)
        asks.script, asks.stores = [Answer(503)], False
        spans.append(mine.sync().again - clock.now)
        clock.epoch(10 * epoch + 9)  # too late by now to be taken
        mine.rate(100, None)
        assert mine.sync().waiting == 0
    assert spans == [60, 120]


def test_a_wrong_clock_is_forgiven(collector, device, clock):
    asks, mine = rated(collector, device)
    clock.now += 10**9
    asks.script = [None]
    mine.sync()
    clock.epoch(1)
    assert mine.sync().again is None
    assert mine.sync().stored == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 415, 301])
def test_a_wrong_request_keeps_the_bytes_and_says_so(collector, device, clock, status):
    asks, mine = rated(collector, device)
    asks.script = [Answer(status, b'{"detail":"rating 5"}')]
    outcome = mine.sync()
    assert (outcome.stored, outcome.waiting, outcome.again) == (0, 6, None)
    (note,) = outcome.notes
    assert re.fullmatch(r"Reports are still pending: the .*\.", note)
    assert str(status) in note
    assert "rating" not in note
    assert mine.sync().stored == 6
    assert asks.conflicts() == []


@pytest.mark.parametrize("status", [200, 400, 403, 404, 413, 301])
def test_only_a_refusal_of_reports_gives_any_of_them_up(collector, device, clock, status):
    """Whatever the body of another answer says of them."""
    asks, mine = rated(collector, device)
    asks.script = [None]
    mine.sync()
    clock.now += 30
    asks.script = [refusing(status, "cells", list(asks.payloads))]
    outcome = mine.sync()
    kept = 0 if status == 200 else 6
    assert (outcome.stored, outcome.given_up, outcome.waiting) == (6 - kept, 0, kept)


@pytest.mark.parametrize(
    ("status", "problem", "due"), [(409, "conflict", 0), (422, "epoch", 2), (422, "cells", 2)]
)
def test_what_is_refused_is_given_up_and_told_again_for_free_but_for_a_conflict(
    collector, device, clock, status, problem, due
):
    asks, mine = rated(collector, device)
    asks.script = [None]
    mine.sync()
    clock.now += 30
    bad = list(asks.payloads)[1:3]
    asks.script = [refusing(status, problem, [*bad, "ff" * 16, 7])]
    outcome = mine.sync()
    assert (outcome.stored, outcome.given_up, outcome.waiting) == (4, 2, 0)
    assert outcome.notes == [f"The collector rejected 2 reports ({problem})."]
    cost = mine.ledger.spent
    assert mine.sync().stored == 0  # a slot has one id an epoch
    clock.epoch(3)
    assert (mine.sync().stored, mine.sync().stored) == (due, 0)
    assert mine.ledger.spent == cost
    said = [{report["id"]: report["cells"] for report in sent} for sent in asks.uploads]
    assert len(said) == 1 + (due > 0)
    if due:
        assert [*said[1].values()] == [said[0][one] for one in bad]


@pytest.mark.parametrize("way", ["given up", "late"])
def test_what_became_of_a_report_over_slots_changes_no_cell(collector, device, clock, way):
    """With nothing left a cell repeats what was told last, whether or not anybody took it."""
    asks = collector("catalogue")
    mine = device(asks, lifetime="6")
    asks.script, asks.stores = [None], way == "given up"
    mine.sync()
    if way == "given up":
        clock.now = mine.sync().again
        asks.script = [refusing(422, "epoch", list(asks.payloads))]
        assert mine.sync().given_up == 1
    mine.rate(100, 5)
    clock.epoch(8)
    outcome = mine.sync()
    assert (outcome.stored, outcome.late) == (1, int(way == "late"))
    assert outcome.refusal is not None
    assert mine.ledger.spent == 6 * 10**9
    assert len(asks.reports[-1]["cells"]) == 6


@pytest.mark.parametrize(
    "body", [b"", b"nonsense", b"[]", b"{}", b'{"refused":3}', b'{"refused":[3]}', b"[" * 9**5]
)
def test_a_refusal_that_says_nothing_keeps_the_bytes(collector, device, clock, body):
    asks, mine = rated(collector, device)
    asks.script = [Answer(422, body)]
    assert mine.sync().waiting == 6
    assert mine.sync().stored == 6


def test_a_word_of_the_collector_is_not_repeated_unless_it_is_one(collector, device, clock):
    asks, mine = rated(collector, device)
    asks.script = [None]
    mine.sync()
    clock.now += 30
    asks.script = [refusing(422, "rating=5\n[ERROR]", list(asks.payloads))]
    assert mine.sync().notes == ["The collector rejected 6 reports (no reason given)."]


def test_reports_past_the_window_are_dropped_and_told_again_for_free(collector, device, clock):
    asks, mine = rated(collector, device)
    asks.script, asks.stores = [None], False
    mine.sync()
    cost = mine.ledger.spent
    clock.epoch(7)
    asks.script = [Answer(413)]
    assert (mine.sync().waiting, len(asks.uploads)) == (6, 0)
    clock.epoch(8)
    outcome = mine.sync()
    assert (outcome.late, outcome.stored, outcome.waiting) == (6, 6, 0)
    assert {report["epoch"] for report in asks.reports} == {8}
    assert mine.ledger.spent == cost
    clock.epoch(20)
    assert (mine.sync().late, len(asks.uploads)) == (0, 1)


def test_a_late_report_is_not_repeated_where_a_newer_one_was_made(collector, device, clock):
    asks = collector()
    mine = device(asks)
    asks.stores = False
    mine.rate(100, 3)
    asks.script = [Answer(413)]
    mine.sync()
    clock.epoch(5)
    mine.rate(100, 4)
    asks.script = [Answer(413)]
    assert mine.sync().waiting == 2
    clock.epoch(8)
    outcome = mine.sync()
    assert (outcome.late, outcome.stored) == (1, 1)
    assert [report["epoch"] for report in asks.reports] == [5]


def test_a_late_report_is_told_again_where_only_a_clock_made_another_one_newer(
    collector, device, clock
):
    """Told in epoch 6, then, the clock set back, in 5: what was told last is the latter."""
    asks = collector()
    mine = device(asks)
    for epoch, rating in ((6, 3), (5, 4)):
        clock.epoch(epoch)
        mine.rate(100, rating)
        asks.script = [Answer(413)] if epoch == 5 else []
        mine.sync()
    clock.epoch(13)
    outcome = mine.sync()
    assert (outcome.late, outcome.stored) == (1, 1)
    assert [report["epoch"] for report in asks.reports] == [6, 13]


def test_a_late_catalogue_is_dropped_and_its_answers_go_on(collector, device, clock):
    asks = collector("catalogue")
    mine = device(asks)
    asks.stores = False
    asks.script = [None]
    mine.sync()
    clock.epoch(8)
    outcome = mine.sync()
    assert (outcome.late, outcome.stored) == (1, 1)
    assert mine.ledger.spent == 6 * 10**9


def test_uploads_are_ordered_and_bounded(collector, device, clock):
    asks = collector(items=range(500))
    mine = device(asks, lifetime="999")
    for item in range(450):
        mine.rate(item, 3)
    mine.sync()
    assert [len(reports) for reports in asks.uploads] == [200, 200, 50]
    places = [report["cells"][0][0] for reports in asks.uploads for report in reports]
    assert places == list(range(450))


def test_large_reports_share_no_upload_that_is_too_long(collector, device, clock):
    asks, sizes = collector("catalogue", ("0.1",), range(4096), window=30), []

    def counting(method, path, body=None, longest=0):
        sizes.append(len(body or b""))
        return asks(method, path, body, longest)

    mine = device(counting, lifetime="410")
    for epoch in range(9):
        clock.epoch(epoch)
        asks.script = [Answer(413)]
        mine.sync()
    sizes.clear()
    assert mine.sync().stored == 9
    assert LONGEST_UPLOAD / 2 < max(sizes) <= LONGEST_UPLOAD
    assert len(asks.uploads) == 2


def test_two_tasks_are_sent_apart(collector, device, clock, ask):
    asks, mine = rated(collector, device)
    asks.script = [None]
    mine.sync()
    asks.tasks.insert(0, ask(name="Books"))
    clock.epoch(1)
    mine.sync()
    posts = [path for method, path in asks.asked if method == "POST"]
    assert len(set(posts)) == 1
    assert asks.tasks[1].address in posts[0]
    mine.rate(100, 2)
    asks.script = [Answer(404)]
    outcome = mine.sync()
    assert outcome.notes
    assert outcome.waiting == 1
    assert mine.sync().stored == 1
    posts = [path for method, path in asks.asked if method == "POST"]
    assert asks.tasks[0].address in posts[-1]
    assert len({report["person"] for report in asks.reports}) == 2


def test_jitter_fills_the_whole_interval():
    shares = [some_share() for _ in range(4000)]
    assert 0 <= min(shares) < 0.01
    assert 0.99 < max(shares) < 1
    assert abs(sum(shares) / 4000 - 0.5) < 5 * (1 / 12 / 4000) ** 0.5
