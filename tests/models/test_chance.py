"""Random numbers that are a row's own."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kstest

from tacit.models.channel_mf.side import RUN, gumbels, normals


@pytest.mark.parametrize("cuts", [(0, 1), (0, 7, 8), (0, RUN - 1, RUN + 1), (RUN, 2 * RUN + 3)])
def test_a_row_gets_the_same_numbers_however_rows_are_cut(cuts: tuple[int, ...]) -> None:
    whole = normals((1, 2, 0), 0, 3 * RUN, 4)
    for first, end in pairwise(cuts):
        part = normals((1, 2, 0), first, end, 4)
        assert np.array_equal(part[0], whole[0][first:end])
        assert np.array_equal(part[1], whole[1][first:end])
        numbers = gumbels((1, 2, 5), 0, 3 * RUN, 2)[first:end]
        assert np.array_equal(gumbels((1, 2, 5), first, end, 2), numbers)


def test_each_seed_sweep_side_and_run_has_its_own() -> None:
    keys = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    drawn = [normals(key, 0, 2 * RUN, 1)[0].ravel() for key in keys]
    runs = np.concatenate(drawn).reshape(-1, RUN)
    apart = np.corrcoef(runs)[np.triu_indices(len(runs), 1)]
    assert np.abs(apart).max() < 5 / np.sqrt(RUN)


def test_their_laws() -> None:
    z, bar = normals((5, 0, 0), 0, 20 * RUN, 2)
    assert kstest(z.ravel(), "norm").pvalue > 1e-3
    assert kstest(np.exp(bar), "uniform").pvalue > 1e-3
    assert kstest(gumbels((5, 0, 5), 0, 20 * RUN, 2).ravel(), "gumbel_r").pvalue > 1e-3
