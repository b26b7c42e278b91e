"""JSON form of a label, as defined by `schema.json`.

A label in the format of the Differential Privacy Deployments Registry (OpenDP and others, 2025).

Names and nesting are those of the registry. Fields that cannot be computed (sector, region,
justification) are omitted. An entry has one privacy unit, so it states the label's weakest
guarantee: the smallest unit and the largest epsilon. A label has none if anything in it runs
without privacy, or under a claim that fails.
"""

import json
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from tacit.labels.label import Keeping, Label, Terms
from tacit.privacy.guarantee import PROTECTS, Guarantee

UNITS = {"value": "Event-level", "slot": "Event-level", "user": "User-level"}
SMALLEST = ("value", "slot", "user")
"""Units, the smallest first."""
MODELS = {"nobody": "Local", "shuffler": "Shuffle", "curator": "Central"}
ACTORS = {
    "nobody": "Devices add noise before sending; the provider and the network see only noisy "
    "reports.",
    "shuffler": "A trusted shuffler mixes sealed messages of devices, which the provider reads.",
    "curator": "A trusted curator holds the true ratings; others see only the output.",
}


def deployment(label: Label) -> dict[str, Any] | None:
    """Return the registry's `deployment`. None unless everything in the label is protected."""
    promises = label.promises
    if not promises or any(one.epsilon is None or one.fails is not None for one in promises):
        return None
    smallest = min(promises, key=lambda one: SMALLEST.index(one.unit)).unit
    weakest = max(
        (one for one in promises if one.unit == smallest),
        key=lambda one: (Decimal(one.epsilon or 0), Decimal(one.delta)),
    )
    return {
        "name": label.name,
        "data_curator": label.asked_by,
        "description": label.leaves,
        "dp_flavor": _flavour(weakest),
        "privacy_loss": _loss(weakest),
        "model": _model(label, weakest),
        "accounting": {"composition": _composition(label)},
        "implementation": {"mechanisms": _mechanisms(label)},
    }


def _mechanisms(label: Label) -> list[str]:
    """Return the channels of a task, without their composition, or the terms of other labels."""
    return [terms.through for terms in label.terms if terms.channel or label.kind != "task"]


def _flavour(weakest: Guarantee) -> dict[str, Any]:
    return {
        "name": "Pure DP" if Decimal(weakest.delta) == 0 else "Approximate DP",
        "unprotected_quantities": list(weakest.public) + list(weakest.uncovered),
    }


def _loss(weakest: Guarantee) -> dict[str, Any]:
    return {
        "privacy_unit": UNITS[weakest.unit],
        "privacy_unit_description": PROTECTS[weakest.unit],
        "privacy_parameters": {"epsilon": weakest.epsilon, "delta": weakest.delta},
    }


def _model(label: Label, weakest: Guarantee) -> dict[str, Any]:
    epoch = label.keeping.epoch_seconds if isinstance(label.keeping, Keeping) else None
    return {
        "model_name": MODELS[weakest.trust],
        "actors": ACTORS[weakest.trust],
        "is_interactive": False,
        "is_many_release": epoch is not None,
        "is_many_release_description": None
        if epoch is None
        else f"One report per rating; an epoch lasts {epoch} seconds.",
    }


def _composition(label: Label) -> str:
    people = [one.sentence for one in label.promises if one.unit == "user"]
    people += label.explanation
    return " ".join(people) if people else (label.unbounded or "None is claimed.")


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
        "explanation": list(label.explanation),
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
