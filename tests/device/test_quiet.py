"""Nothing the device says, prints or logs names a rating, an item, a symbol, a name or a token."""

import json
import logging
import traceback

import pytest

from tacit.device.client import Client
from tacit.device.transport import Answer
from tacit.errors import RequestError, TacitError

ITEM, TOKEN = "an-item-nobody-shall-see", "t0ken-nobody-shall-see"


def everything_that_may_go_wrong(mine, asks, clock):
    """Sentences of errors and notes of a device in trouble."""
    said = []

    def hears(act):
        try:
            said.append(repr(act()))
        except (TacitError, OSError) as error:
            said.append("".join(traceback.format_exception(error, chain=True)[-1:]))
            said.append(repr(error.__cause__))

    hears(lambda: mine.rate(ITEM, "4.25"))
    hears(lambda: mine.rate("an-item-nobody-shall-see-either", "4"))
    mine.rate(ITEM, "4")
    echo = json.dumps({"detail": ITEM, "refused": [{"id": ITEM, "problem": ITEM}]}).encode()
    for epoch, answer in enumerate([Answer(400, echo), Answer(422, echo), Answer(503, echo), None]):
        clock.epoch(100 * epoch)
        asks.script = [answer]
        mine.rate(ITEM, 1 + epoch)
        hears(mine.sync)
    clock.epoch(999)
    mine.rate(ITEM, 5)
    hears(mine.sync)
    hears(mine.recommend)
    return said


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_nothing_is_told_by_errors_logs_or_representations(
    collector, device, clock, plan, caplog, capfd
):
    caplog.set_level(logging.DEBUG)
    asks = collector(plan, items=[ITEM, "b"])
    mine = device(asks, lifetime="4.5", token=TOKEN)
    said = everything_that_may_go_wrong(mine, asks, clock)
    assert any("lifetime budget" in sentence for sentence in said)
    assert any("not on the scale" in sentence for sentence in said)
    parts = [mine, mine._store, mine._provider, mine._documents, mine._transport]
    out = capfd.readouterr()
    text = "\n".join([*said, *map(repr, parts), caplog.text, out.out, out.err])
    secrets = [ITEM, TOKEN, mine._store.secret.hex(), *asks.payloads, "4.25"]
    secrets += [report["person"] for report in asks.reports]
    assert len(secrets) > 5
    assert not [secret for secret in secrets if secret in text.replace(repr(asks), "")]


@pytest.mark.parametrize("epsilon", ["-1", "1e5", "nan", "", "a lot"])
def test_terms_are_plain_decimals(device, epsilon):
    for terms in ({"most_epsilon": epsilon}, {"lifetime": epsilon}):
        with pytest.raises(RequestError, match="not a plain decimal"):
            device(lambda *asked: None, **terms)


def test_the_terms_have_no_default():
    with pytest.raises(TypeError, match="most_epsilon"):
        Client(":memory:", "https://films.example")
