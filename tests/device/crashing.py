"""A device that rates and syncs until it is killed.

    python crashing.py STORE URL BEGIN FLAW

Not a test: a process of its own, since a kill takes a whole process. Its clock runs 3000 times
as fast from BEGIN (Unix seconds) on, so that epochs of a minute last 20 ms. FLAW plants one; with
"erasing", which is none, and "keyless" it erases everything now and then.
"""

import json
import sys
import time
from contextlib import contextmanager, suppress
from random import randrange

from tacit.device import erasing, outbox
from tacit.device.client import Client
from tacit.device.storage.database_file import DatabaseFile
from tacit.device.storage.store import Store
from tacit.errors import RequestError
from tacit.wire.report import upload


def plant_redraw():
    """Draw when sending, instead of sending what was kept."""

    def drawn_anew(documents):
        reports = [json.loads(document) for document in documents]
        for report in reports:
            report["cells"] = [[place, randrange(5)] for place, _ in report["cells"]]
        return upload([json.dumps(report, separators=(",", ":")).encode() for report in reports])

    outbox.upload = drawn_anew


def plant_late():
    """Commit debits and answers after sending."""

    @contextmanager
    def transaction(self):
        if not self.db.in_transaction:
            self.db.execute("BEGIN")
        yield

    Store.transaction = transaction


def plant_unpaid():
    """Draw without a debit."""
    Store.spend = lambda self, ledger: None


def plant_unsaved():
    """Send what is committed in memory and not on disk."""
    DatabaseFile.save = lambda self, db: None


def plant_keyless():
    """Forget without keeping the keys."""
    erasing.REPORTED = "SELECT named, origin FROM task WHERE 0"


def main(path, url, begin, flaw):
    def clock():
        return 1000 + (time.time() - float(begin)) * 3000

    me = Client(path, url, most_epsilon="1", lifetime="1500", clock=clock)
    flaws = {"redraw": plant_redraw, "late": plant_late, "unpaid": plant_unpaid}
    flaws["unsaved"] = plant_unsaved
    flaws |= {"keyless": plant_keyless, "erasing": int, "": int}
    flaws[flaw]()
    print("ready", flush=True)
    while True:
        if flaw in ("erasing", "keyless") and not randrange(10):
            me.erase()
        if not me._known:
            with suppress(RequestError):
                me.sync()
            continue
        for _ in range(3):
            me.rate(randrange(len(me.task.items)), randrange(1, 6))
        me.sync()
        if flaw == "late" and me._store.db.in_transaction:
            me._store.db.execute("COMMIT")


if __name__ == "__main__":
    main(*sys.argv[1:])
