"""Lists made at home over HTTP beside those of `tacit compare`, of the same people and items.

    python benchmarks/lists_over_http.py [--data PATH] [--people 2000] [--plan sample:200]
        [--epsilon 2] [--models ease,graph-filter] [--draws 10]

Who did what in PATH (made up without it), one in five held out. Devices report to a collector in a
process of its own; each model is learnt from the store and published, and every device fetches it
and makes a list of 20 from what its owner truly has. Beside it stand lists of the same reports made
in this process, and `compare`'s, each draw under names of its own, which decide about what somebody
is asked. The bar: the first lies within three standard errors of the mean of the last.
"""

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import polars as pl

from end_to_end import collector, free_port
from followed import followed
from tacit import compile_channel, fit, read, synthetic
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.stored_reports import reports
from tacit.experiments.comparison.comparison import Comparison, ComparisonCell
from tacit.experiments.comparison.measurement import Measurement
from tacit.experiments.metric_columns import list_columns
from tacit.metrics.split import SplitProtocol
from tacit.models import list_model
from tacit.models.top_n import top_n
from tacit.planning.fleet import Fleet, FleetOutcome
from tacit.progress import bar
from tacit.ratings import Codes, Ratings
from tacit.reports import Reports
from tacit.vocabulary import Vocabulary
from tacit.wire.tasks.task import Task

MOST_ERRORS = 3
SPLIT = SplitProtocol(share=0.2)
CHANNEL = "randomized-response"


@dataclass(frozen=True)
class Question:
    """What everybody is asked: the same over HTTP and in one process."""

    plan: str
    epsilon: str

    def task(self, people: Ratings, url: str) -> Task:
        """About every item."""
        channel = compile_channel(CHANNEL, epsilon=self.epsilon, scale=people.scale, missing=True)
        return Task(
            name="Lists",
            scale=people.scale,
            plan=self.plan,
            items=tuple(people.item_ids.ids.to_list()),
            channels=(channel,),
            start=int(time.time()) - 60,
            provider=url,
        )

    def cell(self, model: str) -> ComparisonCell:
        """A row of `compare`."""
        return ComparisonCell(
            dataset="lists",
            data="",
            plan=self.plan,
            cap=None,
            channel=CHANNEL,
            epsilon=self.epsilon,
            model=model,
            mode="strict",
            seed=0,
            fold=None,
        )


def drawn(data: Path | None, count: int) -> Ratings:
    """So many people of a file, and its whole catalogue; made up without one."""
    if data is None:
        return synthetic(n_users=count, n_items=300, n_ratings=40 * count, scale="there")
    everybody = read(data, scale="there")
    some = np.random.default_rng(0).permutation(everybody.n_users)[:count]
    return everybody.with_people(everybody.user_ids.ids.gather(some))


def over_http(
    people: Ratings, question: Question, models: Sequence[str]
) -> Iterator[tuple[str, FleetOutcome, Reports]]:
    """Each model's lists at home, and the reports that it was learnt from."""
    held_out = SPLIT.test(people, 0, None)
    known, rest = people.where(~held_out), people.where(held_out)
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        url = f"http://127.0.0.1:{port}"
        task, published = question.task(people, url), PublishedModels(folder / "models")
        (folder / "task.json").write_bytes(task.document)
        fleet = Fleet(url=url, most_epsilon=question.epsilon, lifetime="1000000")
        with collector(folder, port):
            with bar("reporting") as progress:
                print("reporting over HTTP", file=sys.stderr, flush=True)
                fleet.report(known, people.n_users, progress)
            with closing(open_reader(str(folder / "reports.db"))) as reader:
                stored = reports(reader)
            for model in followed("lists over HTTP", models):
                published.publish(task.address, list_model(fit(model, stored)))
                with bar(f"listing by {model}") as progress:
                    yield model, fleet.score(known, rest, people.n_users, progress), stored


def in_memory(people: Ratings, model: str, stored: Reports) -> float:
    """The NDCG of everybody's list at home by the same reports, nothing published."""
    held_out = SPLIT.test(people, 0, None)
    fitted = replace(fit(model, stored), user_ids=people.user_ids)
    known, rest = people.where(~held_out), people.where(held_out)

    def of_device(own: Ratings, length: int) -> Codes:
        return top_n(fitted, own, length, where="device")

    return float(list_columns(of_device, known, rest, "device")["ndcg_at_20"])


def compared(people: Ratings, question: Question, models: Sequence[str]) -> dict[str, float]:
    """The NDCG at home of one run of `compare`, under names that nobody had before."""
    names = sorted(secrets.token_hex(16) for _ in range(people.n_users))
    renamed = replace(people, user_ids=Vocabulary(pl.Series("id", names)))
    comparison = Comparison(
        channels=(CHANNEL,), models=models, epsilons=(question.epsilon,), protocol=SPLIT
    )
    measure = Measurement(comparison, renamed)
    rows = (row for model in models for row in measure(question.cell(model)))
    return {row.model: row.ndcg_at_20 for row in rows if row.where == "device"}


def said(model: str, there: FleetOutcome, same: float, here: Sequence[float]) -> bool:
    """Print a model's line; whether its bar is met."""
    error = stdev(here) * (1 + 1 / len(here)) ** 0.5
    away = (there.ndcg - mean(here)) / error
    met = abs(away) <= MOST_ERRORS
    among = stdev(there.gains) / len(there.gains) ** 0.5
    print(
        f"{'met  ' if met else 'SHORT'} {model}: NDCG@20 over HTTP {there.ndcg:.4f} "
        f"(+- {among:.4f} over {len(there.gains):,} people), of the same reports in memory "
        f"{same:.4f}; compare {mean(here):.4f} (+- {stdev(here):.4f} a draw, {len(here)} draws): "
        f"{away:+.1f} standard errors apart",
        flush=True,
    )
    return met


def main() -> int:
    """Measure both, and say whether they agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--plan", default="sample:200")
    parser.add_argument("--epsilon", default="2")
    parser.add_argument("--models", default="ease,graph-filter")
    parser.add_argument("--draws", type=int, default=10)
    asked = parser.parse_args()
    people, models = drawn(asked.data, asked.people), asked.models.split(",")
    question = Question(asked.plan, asked.epsilon)
    draws = range(max(2, asked.draws))
    here = [compared(people, question, models) for _ in followed("compare", draws)]
    short = 0
    for model, there, stored in over_http(people, question, models):
        same = in_memory(people, model, stored)
        short += not said(model, there, same, [each[model] for each in here])
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
