"""JSON form of a label, as defined by `schema.json`."""

import json
from dataclasses import asdict
from typing import Any

from tacit.evaluation.label.deployment import deployment
from tacit.evaluation.label.label import Label, Terms

FORMAT = "tacit-label-1"


def dumps(label: Label) -> str:
    """Serialize a label as indented JSON."""
    return json.dumps(document(label), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def document(label: Label) -> dict[str, Any]:
    """Return the label as JSON-ready values."""
    return {
        "format": FORMAT,
        "kind": label.kind,
        "name": label.name,
        "address": label.address,
        "asked_by": label.asked_by,
        "trusted": list(label.trusted),
        "leaves": label.leaves,
        "terms": [_terms(terms) for terms in label.terms],
        "unbounded": label.unbounded,
        "public": list(label.public),
        "keeping": None if label.keeping is None else asdict(label.keeping),
        "found": [asdict(figure) for figure in label.found],
        "deployment": deployment(label),
    }


def _terms(terms: Terms) -> dict[str, Any]:
    return {
        "through": terms.through,
        "channel": terms.channel,
        "promises": [
            {**one.to_dict(), "uncovered": one.uncovered, "sentence": one.sentence}
            for one in terms.promises
        ],
    }
