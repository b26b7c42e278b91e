"""X-Map's extender in stages beside all meta-paths: what it costs, and whether they agree.

    python benchmarks/x_map_stages.py SOURCE TARGET [--names A,B] [--overlaps 0.05,0.2,1]

Seconds of the extender alone, X-Sims, the share of source items whose replacement is the same, and
the MAE of NX-Map by items as printed. A trial (seed 0, nothing kept) at each share of people who
link the domains; one of few people first, so that nothing is compiled on the clock.
"""

import time
from collections.abc import Iterator

import numpy as np

from followed import followed
from tacit.crossdomain import XMap, changed
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import HeldOut, Holdout
from tacit.crossdomain.scoring import score
from tacit.crossdomain.x_map.baseliner import baseline, compare_items
from tacit.crossdomain.x_map.extender import Extension, extend
from tacit.crossdomain.x_map.generator import NOTHING, best
from tacit.crossdomain.x_map.staged import extend_by_stages
from tacit.engines.local import Local
from tacit.kernels.similar import Wanted
from two_domains import two_domains


def extended(domains: Domains, k: int, *, stages: bool) -> tuple[Extension, float]:
    """X-Sims, and the seconds that they took."""
    in_target, engine = domains.of_item == 1, Local()
    base = baseline(compare_items(domains.ratings), in_target, engine, Wanted(k))
    begun = time.perf_counter()
    if stages:
        found = extend_by_stages(base, in_target, k, engine)
    else:
        found = extend(base, in_target, engine)
    return found, time.perf_counter() - begun


def error(hidden: HeldOut, k: int, *, stages: bool) -> float:
    """Mean absolute error of NX-Map by items."""
    system = changed(XMap(), k=k, stages=stages)
    told = system.predict(hidden.trial, engine=Local(), epsilon=None)
    return score(hidden.values, told.predicted, hidden.trial.domains.ratings.scale).mae


def rows(domains: Domains, overlaps: list[float], k: int) -> Iterator[str]:
    """Two lines and the agreement, for each share of people who link."""
    for overlap in followed("overlaps", overlaps):
        hidden = Holdout(overlap=overlap).hide(domains, 1, seed=0)
        chosen = list[np.ndarray]()
        for stages in (False, True):
            found, took = extended(hidden.trial.domains, k, stages=stages)
            chosen.append(best(found, len(domains.of_item)))
            yield (
                f"overlap {overlap:g}, {'stages' if stages else 'paths '}: {took:7.2f} s, "
                f"{len(found.found.s):,} X-Sims, MAE {error(hidden, k, stages=stages):.4f}"
            )
        mapped = chosen[0] != NOTHING
        same = (chosen[0] == chosen[1])[mapped].mean()
        yield f"overlap {overlap:g}: the same replacement for {same:.1%} of {mapped.sum():,} items"


def main() -> None:
    """Print the lines."""
    domains, overlaps, k = two_domains(__doc__)
    list(rows(domains, [0.001], 2))
    for line in rows(domains, overlaps, k):
        print(line, flush=True)


if __name__ == "__main__":
    main()
