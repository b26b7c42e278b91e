"""The claims about an engine: the local one holds them, and each one notices a fault of its own."""

import numpy as np
import pytest

from tacit.engines.engine import Local
from tacit.errors import DataError
from tacit.testing import ENGINE_CLAIMS, check_engine


class Sorting(Local):
    """Results come back as they are done, the last one first."""

    def over(self, kernel, blocks, shared):
        return super().over(kernel, blocks, shared)[::-1]


class Swapping(Local):
    """Rows are paired as columns."""

    def across(self, kernel, rows, columns, shared):
        return super().across(kernel, columns, rows, shared)


class Hasty(Local):
    """Where blocks are many it computes in single precision."""

    def over(self, kernel, blocks, shared):
        found = super().over(kernel, blocks, shared)
        if len(blocks) <= self.blocks:
            return found
        return [one._replace(cells=one.cells.astype("f").astype("d")) for one in found]


class Skipping(Local):
    """A block without rows is nobody's, and left out."""

    def over(self, kernel, blocks, shared):
        return super().over(kernel, [block for block in blocks if block.rows.size], shared)


class Rewording(Local):
    """Whatever goes wrong in a stage is an error of the data."""

    def over(self, kernel, blocks, shared):
        try:
            return super().over(kernel, blocks, shared)
        except Exception as error:
            raise DataError(f"A stage failed: {error}") from None


class Broadcasting(Local):
    """What is shared is sent once, and kept for the next stage of the kernel."""

    def __init__(self, blocks):
        super().__init__(blocks)
        object.__setattr__(self, "kept", {})

    def over(self, kernel, blocks, shared):
        return super().over(kernel, blocks, self.kept.setdefault(kernel, shared))


class Freezing(Local):
    """A kernel gets blocks that it may not write to."""

    def over(self, kernel, blocks, shared):
        def guarded(block, shared):
            found = np.array(block.rows)
            try:
                block.rows.flags.writeable = False
                return kernel(block, shared)
            except ValueError:
                return block._replace(rows=found)
            finally:
                block.rows.flags.writeable = True

        return super().over(guarded, blocks, shared)


FAULTS = {
    "runs_every_block_in_order": Sorting,
    "pairs_every_row_with_every_column": Swapping,
    "has_the_same_digits_in_any_blocks": Hasty,
    "takes_empty_blocks_and_none": Skipping,
    "raises_what_a_kernel_raises": Rewording,
    "keeps_nothing_between_stages": Broadcasting,
    "lets_a_kernel_write_to_its_block": Freezing,
}
"""A fault for each claim."""


@pytest.mark.parametrize("claim", ENGINE_CLAIMS, ids=lambda claim: claim.__name__)
def test_each_claim_notices_its_fault(claim):
    claim(Local(3))
    with pytest.raises(AssertionError):
        claim(FAULTS[claim.__name__](3))


def test_a_faulty_engine_is_found():
    check_engine(Local(3))
    with pytest.raises(AssertionError, match="differs from the result in one block"):
        check_engine(Hasty(3))
