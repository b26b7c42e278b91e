"""A choice of epsilon as a page to open: what is recommended, the figure, the table."""

from html import escape

from tacit.evaluation.comparison.figures import tradeoff as drawn
from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.html.drawing import inline
from tacit.evaluation.html.markup import plain
from tacit.evaluation.html.page import page
from tacit.evaluation.html.provenance import Provenance
from tacit.evaluation.tradeoff import LETTERS, Tradeoff, strength


def report(found: Tradeoff, said: list[str], limits: tuple[float, float], run: Provenance) -> str:
    """The page as HTML. `said`: the verdicts in sentences, the first one first; `limits`: the
    largest loss and the least strength that are acceptable."""
    name = escape(run.data)
    losses = ", ".join(f"loss {loss:.3f} at {epsilon:g}" for epsilon, loss in found.points)
    figure = inline(drawn(found, *limits), "tradeoff", f"Against epsilon: {losses}.")
    first, *rest = said
    body = [
        f"<header><h1>How much privacy for how much accuracy</h1><p>{name}</p></header>",
        f"<p class=lead>{escape(first)}</p>",
        *(f"<p>{escape(sentence)}</p>" for sentence in rest),
        f"<figure class=whole><figcaption><strong>Strength and loss</strong>, against epsilon per "
        f"{found.unit}; dotted is 1 - P, the line is where as much is lost as kept, and the band "
        f"is what both limits allow.</figcaption>{figure}</figure>",
        f"<p>{escape(LETTERS)}</p>",
        plain(table(found)),
        *run.html(),
    ]
    return page("Tacit: choosing epsilon", "\n".join(body))


def table(found: Tradeoff) -> Table:
    """Strength and loss at every epsilon."""
    lines = tuple((f"{e:g}", f"{strength(e):.3f}", f"{loss:.3f}") for e, loss in found.points)
    heading = ("epsilon", "strength P", "loss A")
    return Table(f"Strength and loss; epsilon per {found.unit}", heading, lines)
