"""A paper measured again, as one page to open: claims and verdicts, figures, tables, errors."""

import re
from collections.abc import Sequence
from html import escape

from tacit.evaluation.comparison.tables import Table
from tacit.evaluation.html.drawing import inline
from tacit.evaluation.html.markup import plain, wide
from tacit.evaluation.html.page import page
from tacit.evaluation.html.provenance import Provenance
from tacit.papers.claim import Correction, PaperClaim, StudyResult
from tacit.papers.paper import Paper, Study
from tacit.papers.shared_corrections import SHARED_CORRECTIONS
from tacit.papers.summary import HEADING, counted

Part = tuple[Study, StudyResult]


def report(paper: Paper, parts: Sequence[Part], run: Provenance) -> str:
    """The page as HTML."""
    claims = [claim for _, found in parts for claim in found.claims]
    body = [
        f"<header><h1>A paper measured again</h1><p>{escape(paper.reference)}</p></header>",
        f"<p class=lead>{escape(counted(claims))}</p>",
        f"<p>Measured on {escape(run.data)}</p>",
        *(html for study, found in parts for html in _study(study, found)),
        *_corrections(paper),
        *run.html(),
    ]
    return page(f"Tacit: {paper.name} measured again", "\n".join(body))


def _study(study: Study, found: StudyResult) -> list[str]:
    parts = [f"<h2 id={study.name}>{escape(study.title)}</h2>"]
    if found.claims:
        parts.append(_claims(study.title, found.claims))
    parts += [f"<p>{escape(remark)}</p>" for remark in found.remarks]
    if found.drawing is not None:
        drawing = inline(found.drawing, study.name, found.described)
        parts.append(f"<figure class=whole>{drawing}</figure>")
    return parts + [_opening(table) for table in found.tables]


def _claims(title: str, claims: Sequence[PaperClaim]) -> str:
    lines = "".join(
        f"<tr><th scope=row>{escape(c.words)}</th><td>{escape(c.published)}</td>"
        f"<td>{escape(c.ours)}</td><td><strong>{escape(str(c.verdict))}</strong></td></tr>\n"
        for c in claims
    )
    return _prose_table(f"Claims: {title}", HEADING, lines)


def _opening(table: Table) -> str:
    """A table of figures that opens at a tap."""
    return f"<details><summary>{escape(table.caption)}</summary>\n{plain(table)}\n</details>"


def _corrections(paper: Paper) -> list[str]:
    lines = "".join(map(_correction, (*paper.corrections, *SHARED_CORRECTIONS)))
    heading = ("in the paper", "what holds", "here", "decided by")
    return [
        "<h2>What is wrong in the paper</h2>",
        _prose_table("Errors of the paper, and of all four", heading, lines),
    ]


def _correction(one: Correction) -> str:
    cells = (one.correct, one.here)
    return (
        f"<tr><th scope=row>{_marked(one.printed)}</th>"
        + "".join(f"<td>{_marked(cell)}</td>" for cell in cells)
        + f"<td><small>{escape(one.shown_by)}</small></td></tr>\n"
    )


def _prose_table(caption: str, heading: Sequence[str], lines: str) -> str:
    names = "".join(f"<th scope=col>{escape(name)}</th>" for name in heading)
    return wide(
        caption,
        f"<table class=prose><caption>{escape(caption)}</caption>\n<thead><tr>{names}</tr></thead>"
        f"\n<tbody>\n{lines}</tbody></table>",
    )


def _marked(text: str) -> str:
    """The little Markdown that corrections have: code, emphasis, and links, of which the words."""
    safe = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", escape(text, quote=False))
    code = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"(?<![\w*])\*([^*<>]+)\*(?![\w*])", r"<em>\1</em>", code)
