"""X-Map's similarities across domains: how many adjusted cosine finds, and how many X-Sim.

    python benchmarks/x_map_similarities.py SOURCE TARGET [--names A,B] [--overlaps 0.05,0.2,1]

A pair of items counts where its similarity is not 0. The ratings are those known in a trial (seed
0, nothing kept) at each share of people who link the domains. Undamped, as printed.
"""

from collections.abc import Iterator

import numpy as np

from followed import followed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.x_map.baseliner import baseline, compare_items
from tacit.crossdomain.x_map.extender import extend
from tacit.engines.local import Local
from tacit.kernels.similar import Wanted
from two_domains import two_domains


def counted(domains: Domains, k: int) -> tuple[int, int, int]:
    """Pairs of a source item and a target item: all; by adjusted cosine; by X-Sim."""
    alike, in_target = compare_items(domains.ratings), domains.of_item == 1
    source, target = (np.flatnonzero(side).astype(np.int32) for side in (~in_target, in_target))
    near = alike.nearest(source, target, Wanted(len(target)), Local())
    base = baseline(alike, in_target, Local(), Wanted(k))
    found = extend(base, in_target, Local()).found
    x_sims = np.count_nonzero(found.s)
    return len(source) * len(target), np.count_nonzero(near.code >= 0), x_sims


def rows(domains: Domains, overlaps: list[float], k: int) -> Iterator[str]:
    """A line for each share of people who link."""
    for overlap in followed("overlaps", overlaps):
        known = Holdout(overlap=overlap).hide(domains, 1, seed=0).trial.domains
        pairs, cosine, x_sims = counted(known, k)
        yield (
            f"overlap {overlap:g}: of {pairs:,} pairs {cosine:,} by adjusted cosine, {x_sims:,} by "
            f"X-Sim at k {k}"
        )


def main() -> None:
    """Print a line for each share."""
    print(*rows(*two_domains(__doc__)), sep="\n")


if __name__ == "__main__":
    main()
