"""Devices of one process, with stores in a folder, to be killed at any moment.

    python fleet_devices.py FOLDER URL

Obeys one command a line, as JSON, and prints what came of it: {"device", "now", "rate"} rates items
and syncs, {"device", "now"} states what the device has. A word depends on the device and the number
of its draws so far, so a draw that a kill undid is repeated. Not a test: `growing_shop` runs it.
tests/page/fleet_devices.js is the twin.
"""

import json
import sys
from contextlib import closing
from hashlib import sha256
from itertools import count
from pathlib import Path

from tacit.device.client import Client
from tacit.device.storage import store
from tacit.errors import TacitError

TERMS = {"most_epsilon": "1", "lifetime": "1000", "random_share": lambda: 0.5}
WEEK_DAYS = 7


def secret_of(device: str) -> bytes:
    return sha256(device.encode()).digest()


def word(device: str, number: int) -> int:
    """Return the word of a draw, 64 bits."""
    return int.from_bytes(sha256(f"{device} {number}".encode()).digest()[:8])


class Fleet:
    """`obey` opens the store of each device once."""

    def __init__(self, folder: Path, url: str):
        self._folder, self._url = folder, url
        self._clients, self._now, self._words = {}, 0.0, iter(())

    def obey(self, device: str, now: float, rate=None):
        self._now = now
        try:
            me = self._clients.get(device) or self._opened(device)
            return _state(me) if rate is None else self._synced(device, me, rate)
        except TacitError as error:
            return {"error": str(error)}

    def _synced(self, device, me, rate):
        for item, rating in rate:
            me.rate(item, rating)
        (drawn,) = me._store.db.execute("SELECT count(*) FROM block").fetchone()
        self._words = (word(device, number) for number in count(drawn))
        outcome = me.sync()
        lost = outcome.given_up + outcome.late + outcome.refused
        return {"waiting": outcome.waiting, "lost": lost, "task": me.task.address}

    def _opened(self, device):
        store.token_bytes = lambda size: secret_of(device)
        path, clock = self._folder / f"{device}.db", lambda: self._now
        client = Client(path, self._url, clock=clock, words=lambda: next(self._words), **TERMS)
        self._clients[device] = client
        return client

    def close(self):
        for client in self._clients.values():
            client.close()


def _state(me):
    me.fetch_model()
    rows = me._store.db.execute("SELECT generation, place, symbol FROM block").fetchall()
    return {
        "spent": me.ledger.spent,
        "ratings": list(me.ratings.items()),
        "answers": sorted(map(list, rows)),
        "recommended": [item for item, _ in me.recommend(10_000)],
        "code": me.reference_code().replace("-", ""),
    }


if __name__ == "__main__":
    with closing(Fleet(Path(sys.argv[1]), sys.argv[2])) as fleet:
        for line in sys.stdin:
            print(json.dumps(fleet.obey(**json.loads(line))), flush=True)
