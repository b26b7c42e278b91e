"""`tacit fit --warm`: start a fit from the last model, and its check from that model's check."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.learners.learner import Learner
    from tacit.models import Fitted
    from tacit.reports import Reports


@dataclass(frozen=True)
class WarmModel:
    """A model file to start from. `path`: of the file. `model`: its content."""

    path: Path
    model: "Fitted"

    def settings(self, reports: "Reports") -> dict[str, Any]:
        """Return the settings of a fit that starts from the model.

        Empty, with a notice, if users of the model have no reports any more: a model that starts
        from theirs would still depend on deleted reports.
        """
        from tacit.models.evidence.warm_start import lost_users

        if lost := lost_users(self.model, reports.user_ids):
            options.notice(
                f"{lost:,} users of {self.path} have no reports any more, deleted or expired, so "
                "the model is fitted from scratch."
            )
            return {}
        return {"warm": self.model}


def warm_model(path: Path | None) -> WarmModel | None:
    """Return the model of --warm, None without it. Raises `RequestError` for other files."""
    from tacit.models import Fitted, load

    if path is None:
        return None
    model = load(path)
    if not isinstance(model, Fitted):
        raise RequestError(f"--warm requires a rating model with its users, got {path}.")
    return WarmModel(path, model)


def require_warm(learner: "Learner", typed: dict[str, str], *, from_reports: bool) -> None:
    """Raise `RequestError` where --warm does not apply.

    `typed`: options on the command line, as `options.typed_options` returns them.
    """
    from tacit.learners.settings import having

    if "warm" not in learner.options:
        reason = (
            "its guarantee holds for fits from scratch"
            if learner.is_trainer
            else "it is fitted from scratch"
        )
        raise RequestError(
            f"{learner.name} does not support --warm: {reason}. Leave it out, or choose from "
            f"{', '.join(having('warm'))}."
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
    from tacit.models import Fitted

    def fitted(part: "Reports") -> Any:
        last = warm and _measured(warm.path)
        known = warm_model(last if last is not None and last.is_file() else None)
        model = fit(part, **({} if known is None else known.settings(part)))
        if "warm" in learner.options and isinstance(model, Fitted):
            model.save(_measured(output))
        return model

    return fitted


def _measured(path: Path) -> Path:
    return path.with_name(f"{path.name}.measured")
