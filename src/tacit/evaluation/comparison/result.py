"""What a comparison found: a frame, a figure, a report, and tables to read."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from tacit.errors import RequestError
from tacit.evaluation.attacks.beside import beside
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.comparison import figures
from tacit.evaluation.comparison.chart import TITLES, Chart, describe
from tacit.evaluation.comparison.device_sample import made_up
from tacit.evaluation.comparison.guarantee_text import sentences
from tacit.evaluation.comparison.report import report
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.comparison.runner import Tools
from tacit.evaluation.comparison.summary import as_text
from tacit.evaluation.comparison.tables import accuracy, deciding
from tacit.evaluation.comparison.tools import AUTO, auto_names
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.html.drawing import in_a_notebook
from tacit.evaluation.html.provenance import Provenance
from tacit.evaluation.outputs import writable
from tacit.evaluation.progress import bar
from tacit.evaluation.results import ResultRow, to_frame
from tacit.given import path as given_path
from tacit.notebook import card
from tacit.ratings import Ratings
from tacit.whole_files import write_whole

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """Rows of a comparison, and the request and the ratings behind them.

    Each of `rows` is one model at one epsilon (nats of the row's `unit`) on one split, seen from
    one place. Printed, it is the tables of `tacit compare`.
    """

    rows: tuple[ResultRow, ...]
    request: Comparison
    ratings: Ratings = field(repr=False)
    tools: Tools = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return (
            f"<ComparisonResult {self.ratings.name}: {len(self.rows)} rows of "
            f"{len({row.method for row in self.rows})} models>"
        )

    def __str__(self) -> str:
        return as_text(self.rows)

    def _repr_html_(self) -> str:
        """The deciding figure of every channel and model, and the same as a picture."""
        metric = deciding(self.rows)
        table = accuracy(self.rows, metric, TITLES[metric])
        picture = in_a_notebook(self.figure(metric), describe(self.rows, metric))
        caption = f"{self.ratings.name}: {table.caption}"
        return card(caption, table.lines, heading=table.heading, picture=picture)

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each of `rows`, a column for each of its fields; epsilon in nats per `unit`."""
        return to_frame(self.rows)

    @property
    def promises(self) -> tuple[str, ...]:
        """What each way of reporting promises, and to whom, in sentences."""
        return tuple(sentences(self.rows))

    def to_pandas(self) -> Any:
        """The frame as a pandas one; raises `RequestError` where pandas is not installed."""
        try:
            pandas: Any = import_module("pandas")
        except ImportError:
            raise RequestError("to_pandas requires pandas; install it, or use .frame.") from None
        return pandas.DataFrame(self.frame.to_dict(as_series=False))

    def figure(self, metric: str = "rmse") -> Figure:
        """The metric against epsilon (nats), a panel a model and a colour a channel.

        Raises `RequestError` for a metric that has no figure, or that no row has.
        """
        if metric not in TITLES:
            known = ", ".join(TITLES)
            raise RequestError(f"metric must be one of {known}, got '{metric}'.")
        chart = Chart([row for row in self.rows if not math.isnan(getattr(row, metric))], metric)
        if not chart.rows:
            raise RequestError(f"No row has a value of {metric}; choose another metric.")
        return figures.panels(chart)

    def report(
        self,
        path: str | Path,
        notify: Say = lambda sentence: None,
        *,
        command: str = "tacit.compare",
    ) -> Path:
        """Write the page of `tacit compare --report`, one file that fetches nothing, and return its
        path. Attacks on the same ratings are played for it, but for a comparison with a cap.
        `command`: what the page says was run.

        Raises `RequestError` for a path that cannot be written.
        """
        place = given_path(path)
        writable(place)
        page = report(
            self.rows,
            sample=self._sample(),
            split=self.request.protocol.words,
            attacked=self._attacked(notify),
            run=Provenance.of(self.ratings, command, self._auto()),
        )
        write_whole(place, page.encode())
        return place

    @property
    def _named(self) -> list[str]:
        """Channels that are known by name, and not by a table of their own."""
        asked = self.request
        return [name for name in asked.channels if name != IDENTITY and name not in asked.only]

    def _auto(self) -> Mapping[str, str]:
        asked = self.request
        if AUTO not in asked.channels:
            return {}
        slots = [(asked.plan, epsilon) for epsilon in asked.epsilons]
        return auto_names(slots, self.ratings.scale)

    def _sample(self) -> Any:
        near_one = min(self.request.epsilons, key=lambda epsilon: abs(float(epsilon) - 1))
        if not self._named:
            return None
        first, plan = self._named[0], self.request.plan
        return made_up(self.ratings.scale, first, near_one, self.tools, plan)

    def _attacked(self, notify: Say) -> Sequence[AttackRow]:
        """Return rows of attacks on the reports, which support no cap."""
        asked = self.request
        if asked.cap is not None:
            notify("Attacks require a comparison without --cap, so the report has none.")
            return ()
        with bar("attacking") as progress:
            return beside(
                self.ratings,
                plan=asked.plan,
                channels=self._named,
                epsilons=asked.epsilons,
                progress=progress,
            )
