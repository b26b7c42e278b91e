"""Authorization of uploads, before a body is read."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tacit.collector.http import problems
from tacit.collector.http.body import check_media
from tacit.collector.http.enrolment import Enrolment
from tacit.collector.http.problems import ProblemError
from tacit.collector.http.validation import ReportValidator
from tacit.collector.limits.limits import Charge

SPENT_SECONDS = 60.0
"""Seconds for which an exhausted token is remembered, so that its requests are not read."""


class Visit(NamedTuple):
    """An authorized client at a moment.

    `token`: its SHA-256, None where tokens are not required.
    """

    validator: ReportValidator
    now: float
    token: bytes | None

    def charge(self, reports: int, people: frozenset[bytes]) -> Charge | None:
        """Return the token's cost of an upload; None without limits."""
        if self.token is None:
            return None
        return Charge(self.token, self.validator.counted, self.now, reports, people)


class Admission:
    """Authorizes requests by task and token. `clock`: Unix seconds."""

    def __init__(
        self,
        validators: Mapping[str, ReportValidator],
        clock: Callable[[], float],
        enrolment: Enrolment | None = None,
    ) -> None:
        self._validators, self._clock, self._enrolment = validators, clock, enrolment
        self._spent: dict[tuple[bytes, bytes], float] = {}

    def let_in(self, task: str, headers: Mapping[bytes, bytes]) -> Visit:
        """Return the authorized visit. Raises `ProblemError` for any other request."""
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
        """Record that the token of a visit is exhausted."""
        if visit.token is not None:
            self._spent[visit.token, visit.validator.counted] = visit.now + SPENT_SECONDS
