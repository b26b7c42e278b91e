"""Self-contained HTML pages: figures, failed claims, provenance and templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Self

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tacit.ratings import Ratings
from tacit.reporting.panel import LegendEntry, Panel
from tacit.reporting.plot import draw, inline

PACKAGE = "tacit.reporting"


@dataclass(frozen=True)
class FigurePanel:
    """A static picture, and the interactive panel that replaces it, if any."""

    picture: Markup
    live: Panel | None = None

    @classmethod
    def of(
        cls, panel: Panel, prefix: str, words: str, size: tuple[float, float] | None = None
    ) -> Self:
        """Return a panel in both forms. `words`: the text alternative."""
        return cls(inline(draw(panel, size), prefix, words), panel)


@dataclass(frozen=True)
class ReportFigure:
    """`caption`: continues the title in the same paragraph. `across`: maximum panels per row."""

    title: str
    caption: str
    legend: Sequence[LegendEntry]
    panels: Sequence[FigurePanel]

    @property
    def across(self) -> int:
        """Maximum panels per row on a wide screen."""
        return min(4, len(self.panels))


@dataclass(frozen=True)
class FailedClaim:
    """A guarantee that does not hold. `anchor`: id of the explanation `why` on the page, in
    sentences. `line`: the claim and its system, as a clause."""

    anchor: str
    line: str
    why: str


@dataclass(frozen=True)
class Provenance:
    """Provenance of a report. `command`: the command line or the function called. `day`: ISO date,
    UTC. `data`: a sentence. `auto`: the channel that `auto` resolved to, by epsilon in nats per
    value or slot."""

    command: str
    version: str
    day: str
    data: str
    checksum: str
    auto: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        command: str,
        auto: Mapping[str, str] | None = None,
        *,
        protected: bool = False,
    ) -> Self:
        """Return the provenance of the current run. Ratings that are `protected` get no checksum:
        it would reveal information about them without a privacy cost."""
        day = datetime.now(UTC).date().isoformat()
        checksum = "" if protected else ratings.fingerprint
        release = version("tacit-recommender")
        return cls(command, release, day, data_sentence(ratings), checksum, auto or {})

    @property
    def facts(self) -> dict[str, str]:
        """Known facts by their names on the page."""
        facts = {
            "Command": self.command,
            "Version": f"Tacit {self.version}, {self.day}",
            "Data": self.data,
            "Checksum": self.checksum,
            "Channel auto": ", ".join(f"{name} at {e}" for e, name in self.auto.items()),
        }
        return {name: text for name, text in facts.items() if text}


def data_sentence(ratings: Ratings) -> str:
    """Describe ratings in a sentence: name, size and scale."""
    return (
        f"{ratings.name}: {len(ratings):,} ratings by {ratings.n_users:,} users of "
        f"{ratings.n_items:,} items, {ratings.scale}."
    )


def render(template: str, **values: object) -> str:
    """Render a template of the folder `templates`. Values are escaped, except `Markup`.

    Raises `jinja2.UndefinedError` for a missing value.
    """
    return _templates().get_template(template).render(inlined=inlined, **values)


@cache
def inlined(name: str) -> Markup:
    """Return a style sheet or a script of this package, to inline it into a page."""
    return Markup(files(PACKAGE).joinpath(name).read_text("utf-8"))


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
