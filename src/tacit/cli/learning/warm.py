"""`tacit fit --warm`: start a fit from the last model, and its check from that model's check."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.learners.learner import Learner
    from tacit.models import Fitted, FittedLists
    from tacit.reports import Reports

START, MEASURED = "warm", "measured"
"""Endings of the files next to a model: the start of a top-N model, and the measured model."""
CLOSED_FORM = ("global-mean", "item-mean", "bias", "popularity")
"""Models that take no longer to compute than their reports take to read."""


@dataclass(frozen=True)
class WarmModel:
    """A model to start from. `path`: of its file.

    `model`: a rating model, or the start of a top-N model that `save_start` wrote, None without it.
    """

    path: Path
    model: "Fitted | FittedLists | None"

    @property
    def name(self) -> str | None:
        """Name of the model, None if its start is not saved."""
        return None if self.model is None else self.model.model

    def holds_for(self, reports: "Reports") -> bool:
        """Return whether a fit may start from the model.

        It may not, with a notice, if users of the model have no reports any more: a model that
        starts from theirs would still depend on deleted reports. Nor, with a notice, without the
        start of a top-N model.
        """
        from tacit.models.evidence.warm_start import lost_users

        if self.model is None:
            start = _file_next_to(self.path, START).name
            options.notice(
                f"{self.path} was saved without {start}, which has what its search chose, so the "
                "model is fitted from scratch."
            )
            return False
        if lost := lost_users(self.model, reports.user_ids):
            options.notice(
                f"{lost:,} users of {self.path} have no reports any more, deleted or expired, so "
                "the model is fitted from scratch."
            )
            return False
        return True

    def settings(self, learner: "Learner") -> dict[str, Any]:
        """Return the settings of a fit that starts from the model, none for one in closed form."""
        return {"warm": self.model} if "warm" in learner.options else {}

    @property
    def exposure(self) -> "FittedLists | None":
        """The model's exposure, None for a top-N model and for a model without."""
        return getattr(self.model, "exposure", None)

    def notice_of_search(self, fitted: object) -> None:
        """Print a notice if the search of a top-N model was done again, although all users have
        reports."""
        from tacit.models import FittedLists

        if not (isinstance(self.model, FittedLists) and isinstance(fitted, FittedLists)):
            return
        if fitted.tuning != self.model.tuning:
            options.notice(
                "The number of reports, their noise or the settings changed too much since the "
                f"search of {self.path}, so the model is fitted from scratch."
            )


def warm_model(path: Path | None) -> WarmModel | None:
    """Return the model of --warm, None without it. Raises `RequestError` for other files."""
    from tacit.models import FittedLists, ListModel, load

    if path is None:
        return None
    model = load(path)
    if not isinstance(model, ListModel):
        return WarmModel(path, model)
    start = _file_next_to(path, START)
    return WarmModel(path, FittedLists.load(start) if start.is_file() else None)


def save_start(fitted: object, output: Path, learner: "Learner") -> None:
    """Write what a warm fit requires of a top-N model next to its file, which has no users.

    The ids of the users are written, for the next fit to notice an erasure, and no reports.
    """
    from tacit.models import FittedLists

    if isinstance(fitted, FittedLists) and supports_warm(learner):
        fitted.without_reports().save(_file_next_to(output, START))


def supports_warm(learner: "Learner") -> bool:
    """Return whether --warm applies to a learner."""
    return "warm" in learner.options or learner.name in CLOSED_FORM


def require_warm(
    learner: "Learner", start: WarmModel, typed: dict[str, str], *, from_reports: bool
) -> None:
    """Raise `RequestError` where --warm does not apply. Prints a notice for a closed form.

    `typed`: options on the command line, as `options.typed_options` returns them.
    """
    from tacit.learners.settings import having

    if not supports_warm(learner):
        reason = (
            "its guarantee holds for fits from scratch"
            if learner.is_trainer
            else "it is fitted from scratch"
        )
        raise RequestError(
            f"{learner.name} does not support --warm: {reason}. Leave it out, or choose from "
            f"{', '.join([*CLOSED_FORM, *having('warm')])}."
        )
    if learner.name in CLOSED_FORM:
        if start.name not in (None, learner.name):
            raise RequestError(
                f"A warm start of {learner.name} requires a model of that kind, got {start.name}; "
                "fit without --warm."
            )
        options.notice(
            f"{learner.name} is computed from all reports each time"
            + (", and only its exposure is warm." if learner.predicts else ".")
        )
    if not from_reports:
        raise RequestError("--warm requires reports: a file of reports, or --db.")
    for name in ("factors", "engine", "state"):
        if name in typed:
            raise RequestError(
                f"--warm excludes {typed[name]}: the fit starts from the model, with its factors "
                "and in this process. Leave one of them out."
            )


def measured_fit(
    fit: "Callable[..., Any]", warm: WarmModel | None, output: Path, learner: "Learner"
) -> "Callable[[Reports], Any]":
    """Return the fit whose gain is measured (`tacit.publishing.held_out`), which saves its model.

    It must not start from a model of the reports that are held out. The same slots are held out
    each time, so it starts from the last measured model, next to the file of --warm, if it exists.
    """
    from tacit.models import Fitted, FittedLists

    def fitted(part: "Reports") -> Any:
        last = warm and _file_next_to(warm.path, MEASURED)
        known = warm_model(last if last is not None and last.is_file() else None)
        holds = known is not None and known.holds_for(part)
        model = fit(part, **(known.settings(learner) if known and holds else {}))
        if "warm" in learner.options and isinstance(model, Fitted | FittedLists):
            start = model.without_reports() if isinstance(model, FittedLists) else model
            start.save(_file_next_to(output, MEASURED))
        return model

    return fitted


def side_files(output: Path) -> list[Path]:
    """Return the files that a fit may write next to the file of its model."""
    return [_file_next_to(output, kind) for kind in (START, MEASURED)]


def _file_next_to(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.name}.{kind}")
