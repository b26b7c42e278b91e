"""A paper measured again, as one page to open: claims and verdicts, figures, tables, errors."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version

from markupsafe import Markup

from tacit.reporting.page import Provenance, render
from tacit.reporting.plot import inline
from tacit_studies.claim import Correction, PaperClaim, StudyResult
from tacit_studies.paper import Data, Paper, Study, ratings_of
from tacit_studies.shared_corrections import SHARED_CORRECTIONS
from tacit_studies.summary import HEADING, counted
from tacit_studies.verdict import ClaimVerdict

Part = tuple[Study, StudyResult]


def provenance(data: Data, command: str) -> Provenance:
    """Return the provenance of a run. Its data and checksum are empty where no study read any."""
    if data is not None:
        return Provenance.of(ratings_of(data), command)
    today = datetime.now(UTC).date().isoformat()
    return Provenance(command, version("tacit-recommender"), today, data="", checksum="")


def report(paper: Paper, parts: Sequence[Part], run: Provenance) -> str:
    """Return the page as HTML. `run.data` is empty if no study read ratings."""
    claims = [claim for _, found in parts for claim in found.claims]
    return render(
        "paper.html",
        title=f"Tacit: {paper.name} measured again",
        reference=paper.reference,
        counted=counted(claims),
        heading=HEADING,
        studies=[_study(study, found, run) for study, found in parts],
        corrections=[_correction(one) for one in (*paper.corrections, *SHARED_CORRECTIONS)],
        run=run,
    )


def measured_on(study: Study, found: StudyResult, data: str) -> str:
    """Return what a study was measured on, as a sentence. `data`: the ratings, if it read them."""
    if all(claim.verdict == ClaimVerdict.OPEN for claim in found.claims):
        return "Nothing was measured."
    return f"Measured on {study.own_data or data.rstrip('.')}."


def _study(study: Study, found: StudyResult, run: Provenance) -> dict[str, object]:
    picture = None
    if found.drawing is not None:
        picture = inline(found.drawing, study.name, found.described)
    return {
        "name": study.name,
        "title": study.title,
        "claims": [_claim(claim) for claim in found.claims],
        "remarks": (measured_on(study, found, run.data), *found.remarks),
        "picture": picture,
        "tables": found.tables,
    }


def _claim(claim: PaperClaim) -> tuple[str, ...]:
    verdict = Markup("<strong>{}</strong>").format(str(claim.verdict))
    return (claim.words, claim.published, claim.ours, verdict)


def _correction(one: Correction) -> tuple[Markup, ...]:
    by = Markup("<small>{}</small>").format(one.shown_by)
    return (_marked(one.printed), _marked(one.correct), _marked(one.here), by)


def _marked(text: str) -> Markup:
    """The little Markdown that corrections have: code, emphasis, and links, of which the words."""
    safe = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", escape(text, quote=False))
    code = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return Markup(re.sub(r"(?<![\w*])\*([^*<>]+)\*(?![\w*])", r"<em>\1</em>", code))
