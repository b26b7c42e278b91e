"""Short responses of a collector: its tasks, its newest model, refused reports.

They are not trusted: documents are verified by their addresses, and only ids that were sent are
used.
"""

from typing import Any, cast

from tacit.errors import DataError
from tacit.wire import strict
from tacit.wire.tasks.task import is_address

LONGEST = 1 << 18
"""Most bytes of a short response."""
WHAT = "The collector's response"


def first_task(body: bytes) -> str | None:
    """Return the address of the first task, None for an empty list.

    Raises `DataError` unless the body is `{"tasks":[addresses]}`.
    """
    fields = strict.fields(strict.parse(body, WHAT, LONGEST), WHAT, ("tasks",))
    return next(iter(strict.listed(fields["tasks"], "tasks", _address, WHAT)), None)


def newest_model(body: bytes) -> str:
    """Return the address of the newest item model.

    Raises `DataError` unless the body is `{"model":address}`.
    """
    fields = strict.fields(strict.parse(body, WHAT, LONGEST), WHAT, ("model",))
    return strict.listed([fields["model"]], "model", _address, WHAT)[0]


def refused(body: bytes) -> dict[str, str] | None:
    """Return the problem of each refused report, by id.

    None if the response does not list the reports; then none may be given up.
    """
    try:
        problem = strict.parse(body, WHAT, LONGEST)
    except DataError:
        return None
    entries = cast("dict[str, Any]", problem).get("refused") if isinstance(problem, dict) else None
    if not isinstance(entries, list):
        return None
    refusals = [_refusal(entry) for entry in cast("list[Any]", entries)]
    named = [each for each in refusals if each is not None]
    return dict(named) if len(named) == len(refusals) else None


def _address(value: Any) -> str:
    if isinstance(value, str) and is_address(value):
        return value
    raise strict.wrong(value)


def _refusal(entry: Any) -> tuple[str, str] | None:
    """Return id and problem; an invalid id becomes one that was never sent."""
    if not isinstance(entry, dict) or "id" not in entry:
        return None
    known = cast("dict[str, Any]", entry)
    report, problem = known["id"], known.get("problem")
    return (
        report if isinstance(report, str) else "",
        problem if isinstance(problem, str) else "",
    )
