"""Two tables live at once: each report is read with its own, and what is learnt is not biased."""

from contextlib import closing

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.collection.sampler import BulkSampler
from tacit.collector.storage import stored_reports
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.slot_codec import pack_rated
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import StoredReport

SHARES = np.array([0.06, 0.11, 0.27, 0.34, 0.22])


def filled(path, task, levels, mechs):
    """A store with a report of each level through one of the task's channels, a person each."""
    symbols = BulkSampler(task.channels, None).draw(levels.astype(np.uint16), mechs)
    ids = np.random.default_rng(0).permutation(len(levels))
    with closing(SqliteStore(path)) as store:
        number = store.hold(task.document).number
        for start in range(0, len(levels), 4096):
            block = range(start, min(start + 4096, len(levels)))
            store.insert(
                [
                    StoredReport(
                        int(ids[k]).to_bytes(16, "big"),
                        number,
                        0,
                        int(mechs[k]),
                        k.to_bytes(16, "big"),
                        pack_rated(k % len(task.items), int(symbols[k])),
                    )
                    for k in block
                ]
            )


def estimated(reports, of_its_own):
    """Shares of levels and their standard errors, by the inverse of each report's table; or of
    the first table for every report, which is the bug."""
    total, variance = np.zeros(5), np.zeros(5)
    for mech, channel in enumerate(reports.channels):
        counts = np.bincount(reports.symbols[reports.channel_of == mech], minlength=5)
        table = np.array((channel if of_its_own else reports.channels[0]).likelihood)
        inverse = np.linalg.inv(table)
        n, p = counts.sum(), counts / counts.sum()
        total += n / len(reports) * (p @ inverse)
        spread = (inverse**2 * p[:, None]).sum(0) - (p @ inverse) ** 2
        variance += (n / len(reports)) ** 2 * spread / n
    return total, np.sqrt(variance)


@pytest.mark.parametrize("count", [40_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_two_tables_are_read_without_bias(ask, tmp_path, count):
    stars = ask().scale
    tables = tuple(
        compile_channel("randomized-response", epsilon=e, scale=stars) for e in ("1", "2")
    )
    task, chance = ask(channels=tables), np.random.default_rng(1)
    path = str(tmp_path / "reports.db")
    levels = chance.choice(5, count, p=SHARES)
    filled(path, task, levels, chance.integers(0, 2, count).astype(np.uint8))
    with closing(open_reader(path)) as reader:
        reports = stored_reports.reports(reader)
    truth = np.bincount(levels, minlength=5) / count
    shares, errors = estimated(reports, of_its_own=True)
    assert np.abs((shares - truth) / errors).max() < 4
    shares, errors = estimated(reports, of_its_own=False)
    assert np.abs((shares - truth) / errors).max() > 6
