"""What leaves a device has one shape, whatever its owner rated."""

import json
import random
from itertools import count

import pytest


def profile(chance, items):
    """Arbitrary: from nothing to everything."""
    rated = chance.sample(items, chance.randrange(len(items) + 1))
    return {item: chance.randrange(1, 6) for item in rated}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("pairs", [50, pytest.param(500, marks=pytest.mark.long)])
@pytest.mark.parametrize("plan", ["catalogue", "sample:7"])
def test_two_profiles_give_one_shape(plan, pairs, collector, device, clock, monkeypatch):
    """Each pair on one secret: the same items, order, lengths and requests."""
    asks, items = collector(plan, ("0.1",), range(12)), list(range(12))
    chance, secrets = random.Random(plan), count()
    shapes, contents = [], []
    for trial in range(pairs):
        seed = next(secrets).to_bytes(32, "little")
        monkeypatch.setattr("tacit.device.storage.store.token_bytes", lambda size, seed=seed: seed)
        pair = []
        for _ in range(2):
            words = []
            mine = device(asks, words=lambda words=words: words.append(0) or chance.getrandbits(64))
            asks.payloads.clear()
            asks.asked.clear()
            for epoch in range(2):
                clock.epoch(epoch)
                for item, rating in profile(chance, items[epoch * 6 :]).items():
                    mine.rate(item, rating)
                mine.sync()
                if epoch == 0:
                    assert len(words) == (12 if plan == "catalogue" else 7)
            sent = [texts[0] for texts in asks.payloads.values()]
            pair.append(([shape(text) for text in sent], list(asks.asked)))
            contents.append(str([json.loads(text)["cells"] for text in sent]))
            mine.close()
        assert pair[0] == pair[1], trial
        shapes.append(str(pair[0]))
    assert len(set(shapes)) > 0.9 * pairs  # secrets tell people apart
    assert len(set(contents)) > 0.9 * pairs  # and symbols differ


def shape(text):
    """All of a report but its symbols, and its length."""
    report = json.loads(text)
    return len(text), [place for place, _ in report.pop("cells")], report


def test_what_is_rated_after_the_first_report_does_show(collector, device, clock):
    """Answers are repeated: one that changes tells of a rating, as the page of pitfalls says."""
    asks = collector("catalogue", ("0.1",), range(80))
    mine = device(asks)
    for epoch in range(3):
        clock.epoch(epoch)
        for item in range(40 if epoch == 2 else 0):
            mine.rate(item, 3)
        mine.sync()
    first, second, third = [report["cells"] for report in asks.reports]
    assert first == second
    assert first[40:] == third[40:]
    assert first[:40] != third[:40]  # by chance alike less than once in 10^30 runs


def test_under_rated_what_was_rated_does_show(collector, device):
    """The test above would notice: under this plan presence is public."""
    asks = collector("rated", items=range(12))
    for items in ((1, 5), (2,)):
        mine = device(asks)
        for item in items:
            mine.rate(item, 3)
        mine.sync()
    lengths = [len(reports) for reports in asks.uploads]
    assert lengths == [2, 1]
