"""Who may send to a task, and when: asked before a body is read."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tacit.collector.http import problems
from tacit.collector.http.body import check_media
from tacit.collector.http.enrolment import Enrolment
from tacit.collector.http.problems import ProblemError
from tacit.collector.http.validation import ReportValidator
from tacit.collector.limits.limits import Charge

SPENT_SECONDS = 60.0
"""For how long it is remembered that a token's share is spent, so that nothing of it is read."""


class Visit(NamedTuple):
    """A client that may send, at a moment. `token`: its SHA-256, where tokens are asked for."""

    validator: ReportValidator
    now: float
    token: bytes | None

    def charge(self, reports: int, people: frozenset[bytes]) -> Charge | None:
        """What the token would pay for so much; None where nothing is counted."""
        if self.token is None:
            return None
        return Charge(self.token, self.validator.counted, self.now, reports, people)


class Admission:
    """What is taken for each task. `clock`: Unix seconds."""

    def __init__(
        self,
        validators: Mapping[str, ReportValidator],
        clock: Callable[[], float],
        enrolment: Enrolment | None = None,
    ) -> None:
        self._validators, self._clock, self._enrolment = validators, clock, enrolment
        self._spent: dict[tuple[bytes, bytes], float] = {}

    def let_in(self, task: str, headers: Mapping[bytes, bytes]) -> Visit:
        """Whoever may send. Raises `ProblemError` for anybody else."""
        validator = self._validators.get(task)
        if validator is None:
            raise ProblemError(problems.NO_SUCH_TASK)
        now = self._clock()
        token = self._enrolment.admit(headers) if self._enrolment else None
        if token is not None and now < self._spent.get((token, validator.counted), now):
            raise ProblemError(problems.LIMIT)
        check_media(headers)
        return Visit(validator, now, token)

    def spent(self, visit: Visit) -> None:
        """Nothing is left of the share of the token that came."""
        if visit.token is not None:
            self._spent[visit.token, visit.validator.counted] = visit.now + SPENT_SECONDS
