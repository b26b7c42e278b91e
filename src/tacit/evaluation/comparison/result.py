"""Result of a comparison, as a frame, a figure, a report, and tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from tacit.errors import RequestError
from tacit.evaluation.attacks.beside import quick_attacks
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.comparison.chart import TITLES, Chart
from tacit.evaluation.comparison.device_sample import made_up
from tacit.evaluation.comparison.guarantee_text import sentences
from tacit.evaluation.comparison.report import report
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.comparison.summary import as_text
from tacit.evaluation.comparison.tables import accuracy, deciding
from tacit.evaluation.comparison.tools import AUTO, Tools, auto_names
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.outputs import writable
from tacit.evaluation.progress import bar
from tacit.evaluation.results import ResultRow, to_frame
from tacit.given import path as given_path
from tacit.notebook import card
from tacit.ratings import Ratings
from tacit.reporting.page import Provenance
from tacit.reporting.plot import in_a_notebook
from tacit.whole_files import write_whole

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """Rows of a comparison, and the request and the ratings behind them.

    Each of `rows` is one model at one epsilon (nats per the row's `unit`) on one split, at one
    location. `str` returns the tables of `tacit compare`.
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
        """Return the table and the figure of the main metric, for notebooks."""
        metric = deciding(self.rows)
        table = accuracy(self.rows, metric, TITLES[metric])
        picture = in_a_notebook(self.figure(metric), Chart(self.rows, metric).describe())
        caption = f"{self.ratings.name}: {table.caption}"
        return card(caption, table.lines, heading=table.heading, picture=picture)

    @property
    def frame(self) -> pl.DataFrame:
        """A frame of `rows`, one column per field. Epsilon in nats per `unit`."""
        return to_frame(self.rows)

    @property
    def promises(self) -> tuple[str, ...]:
        """The guarantees in sentences, one per kind."""
        return tuple(sentences(self.rows))

    def to_pandas(self) -> Any:
        """Convert the frame to pandas. Raises `RequestError` if pandas is not installed."""
        try:
            pandas: Any = import_module("pandas")
        except ImportError:
            raise RequestError("to_pandas requires pandas; install it, or use .frame.") from None
        return pandas.DataFrame(self.frame.to_dict(as_series=False))

    def figure(self, metric: str = "rmse") -> Figure:
        """Plot the metric against epsilon (nats), a panel per model and a colour per channel.

        Raises `RequestError` for a metric without a figure, and for one that no row has.
        """
        if metric not in TITLES:
            known = ", ".join(TITLES)
            raise RequestError(f"metric must be one of {known}, got '{metric}'.")
        chart = Chart([row for row in self.rows if not math.isnan(getattr(row, metric))], metric)
        if not chart.rows:
            raise RequestError(f"No row has a value of {metric}; choose another metric.")
        return chart.figure()

    def report(
        self,
        path: str | Path,
        notify: Say = lambda sentence: None,
        *,
        command: str = "tacit.compare",
    ) -> Path:
        """Write the report of `tacit compare --report`, one self-contained file. Returns its path.

        Attacks on the same ratings are run for it, except for a comparison with a cap. `command`:
        the command shown in the report.

        Raises `RequestError` for a path that cannot be written.
        """
        target = given_path(path)
        writable(target)
        page = report(
            self.rows,
            sample=self._sample(),
            split=self.request.protocol.words,
            attacked=self._attacked(notify),
            run=Provenance.of(self.ratings, command, self._auto()),
        )
        write_whole(target, page.encode())
        return target

    @property
    def _named(self) -> list[str]:
        """Channels by name, without the identity and without channel objects."""
        request = self.request
        return [name for name in request.channels if name != IDENTITY and name not in request.only]

    def _auto(self) -> Mapping[str, str]:
        request = self.request
        if AUTO not in request.channels:
            return {}
        slots = [(request.plan, epsilon) for epsilon in request.epsilons]
        return auto_names(slots, self.ratings.scale)

    def _sample(self) -> Any:
        near_one = min(self.request.epsilons, key=lambda epsilon: abs(float(epsilon) - 1))
        if not self._named:
            return None
        first, plan = self._named[0], self.request.plan
        return made_up(self.ratings.scale, first, near_one, self.tools, plan)

    def _attacked(self, notify: Say) -> Sequence[AttackRow]:
        """Return rows of attacks on the reports, which support no cap."""
        request = self.request
        if request.cap is not None:
            notify("Attacks require a comparison without --cap, so the report has none.")
            return ()
        with bar("attacking") as progress:
            return quick_attacks(
                self.ratings,
                plan=request.plan,
                channels=self._named,
                epsilons=request.epsilons,
                progress=progress,
            )
