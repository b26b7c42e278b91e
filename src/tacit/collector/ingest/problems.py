"""Problem documents (RFC 9457) of refused requests."""

import json
from dataclasses import dataclass
from typing import Any

URN = "urn:tacit:problem:"
MEDIA_TYPE = b"application/problem+json"


@dataclass(frozen=True)
class Problem:
    """One kind of refusal: its name in the `type` of a document, HTTP status, and a sentence.

    `retry_after`: seconds after which the same request may succeed, None if it never will.
    """

    name: str
    status: int
    detail: str
    retry_after: int | None = None

    def document(self, refused: "list[dict[str, str]] | None" = None) -> bytes:
        """Return the response body. `refused`: reports that were not stored, if others were."""
        fields: dict[str, Any] = {
            "type": URN + self.name,
            "title": self.name.replace("-", " "),
            "status": self.status,
            "detail": self.detail,
        }
        if refused:
            fields["refused"] = refused
        return json.dumps(fields).encode()


class ProblemError(Exception):
    """Raised to end a request with a problem.

    `linger`: for an incompletely read body, the seconds for which the rest is read and discarded
    before the connection is closed. None: the connection stays open.
    """

    def __init__(self, problem: Problem, linger: float | None = None) -> None:
        super().__init__(problem.name)
        self.problem = problem
        self.linger = linger


MALFORMED = Problem("malformed", 400, "The body is not an upload of reports.")
NO_ERASURE = Problem("malformed", 400, 'The body is not {"key":"64 hexadecimal digits"}.')
UNAUTHORIZED = Problem("unauthorized", 401, "Uploads require an enrolment token of this provider.")
NO_SUCH_TASK = Problem("no-such-task", 404, "This collector has no task with this address.")
NOT_FOUND = Problem("not-found", 404, "No resource at this address.")
METHOD = Problem("method", 405, "This address does not support this method.")
SLOW = Problem("slow", 408, "The body took more than 15 seconds to arrive. Send it again.")
CONFLICT = Problem("conflict", 409, "Another report has this id; the first one was kept.")
TOO_LARGE = Problem("too-large", 413, "An upload may have at most 262144 bytes and 200 reports.")
PEOPLE = Problem(
    "too-large", 413, "This upload contains reports of too many users. Send fewer per upload."
)
MEDIA = Problem("media-type", 415, "Send application/json without a content-encoding.")
MECHANISM = Problem("unknown-mechanism", 422, "The task does not offer this channel.")
EPOCH = Problem("epoch", 422, "Reports for this epoch are not accepted at the moment.")
CELLS = Problem(
    "cells",
    422,
    "The cells do not match the requested slots, or a symbol is not in the channel's table.",
)
LIMIT = Problem(
    "limit",
    429,
    "This token has exceeded its limit on reports or on users per epoch. No report was stored.",
    retry_after=3600,
)
BUSY = Problem("busy", 503, "Too many uploads are waiting to be stored.", retry_after=2)
FAILED = Problem(
    "failed", 500, "The collector failed to process this request. Send it again.", retry_after=10
)
UNCHECKED = Problem("unavailable", 503, "Tokens cannot be checked at the moment.", retry_after=10)
UNAVAILABLE = Problem("unavailable", 503, "Reports cannot be stored at the moment.", retry_after=10)
