"""A fit on Spark in a process of its own: `python -m fitting MASTER STATE OUT [dying]`.

It says each sweep that is done, so that a test can kill it; with `dying` a worker kills itself in
the midst of a sweep, once. `OUT` is the model.
"""

import sys
from pathlib import Path

import dying
from repeatable_words import RepeatableWordsForTestsOnly

from tacit import Rated, compile_channel, fit, perturb
from tacit.engines.spark import Spark
from tacit.models import Fitted
from tacit.models.channel_mf import side
from tacit.readers import synthetic
from tacit.reports import Reports

SETTINGS = {"factors": 3, "draws": 3, "burn_in": 8, "every": 1}


def made_up() -> Reports:
    """The same reports in every process."""
    ratings = synthetic(120, 50, 3000)
    channel = compile_channel("optimal", epsilon="2", scale=ratings.scale)
    return perturb(ratings, Rated(channel), words=RepeatableWordsForTestsOnly(5))


def fitted(**where: object) -> Fitted:
    """A fit of them."""
    return fit("channel-mf", made_up(), **SETTINGS, **where)


def main() -> None:
    """Fit, and write the model."""
    master, state, out, *how = sys.argv[1:]
    if how:
        side.redraw_block = dying.redraw_block

    def said(share: float) -> None:
        print(f"{share:.6f}", flush=True)

    with Spark(master, blocks=2, memory="1g") as engine:
        fitted(engine=engine, state=Path(state), progress=said).save(Path(out))


if __name__ == "__main__":
    main()
