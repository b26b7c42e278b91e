"""A stage of channel-mf in whose midst a worker dies, once: half its rows are written, wrongly."""

import os
import signal
from pathlib import Path

from tacit.engines.tables import opened, written
from tacit.kernels.gibbs_rows import Tally
from tacit.models.channel_mf import side
from tacit.models.channel_mf.side import Given, RowBlock

DEADLY = 5
"""The sweep of it."""


def redraw_block(block: RowBlock, given: Given) -> Tally:
    """As `stages.redraw_block`."""
    died = Path(str(block.after)).with_name("died")
    if given.key[1] == DEADLY and block.rows.first > 0 and not died.exists():
        died.touch()
        wrong = opened(given.rows)[block.rows.first : block.rows.end][::2] + 1
        written(block.after, block.rows.first, wrong)
        os.kill(os.getpid(), signal.SIGKILL)
    return side.redraw_block(block, given)
