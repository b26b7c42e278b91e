"""What a collector says in short answers: what it asks, its newest model, what it refuses.

Nothing of it is believed but addresses, whose documents are checked, and ids that were sent.
"""

from typing import Any, cast

from tacit.errors import DataError
from tacit.wire import strict
from tacit.wire.task import is_address

LONGEST = 1 << 18
"""Bytes a short answer may have."""
WHAT = "The collector's answer"


def first_task(body: bytes) -> str | None:
    """The address of the task to answer first; None where it asks nothing.

    Raises `DataError` for what is not `{"tasks":[addresses]}`.
    """
    fields = strict.fields(strict.parse(body, WHAT, LONGEST), WHAT, ("tasks",))
    return next(iter(strict.listed(fields["tasks"], "tasks", _address, WHAT)), None)


def newest_model(body: bytes) -> str:
    """The address of the newest item model.

    Raises `DataError` for what is not `{"model":address}`.
    """
    fields = strict.fields(strict.parse(body, WHAT, LONGEST), WHAT, ("model",))
    return strict.listed([fields["model"]], "model", _address, WHAT)[0]


def refused(body: bytes) -> dict[str, str] | None:
    """The kind of problem of each refused report, by id; None where the answer does not say which
    reports it means: then none may be given up."""
    try:
        problem = strict.parse(body, WHAT, LONGEST)
    except DataError:
        return None
    entries = cast("dict[str, Any]", problem).get("refused") if isinstance(problem, dict) else None
    if not isinstance(entries, list):
        return None
    told = [_refusal(entry) for entry in cast("list[Any]", entries)]
    named = [each for each in told if each is not None]
    return dict(named) if len(named) == len(told) else None


def _address(value: Any) -> str:
    if isinstance(value, str) and is_address(value):
        return value
    raise strict.wrong(value)


def _refusal(entry: Any) -> tuple[str, str] | None:
    """Id and problem; the id of something else is one that was never sent."""
    if not isinstance(entry, dict) or "id" not in entry:
        return None
    known = cast("dict[str, Any]", entry)
    report, problem = known["id"], known.get("problem")
    return (
        report if isinstance(report, str) else "",
        problem if isinstance(problem, str) else "",
    )
