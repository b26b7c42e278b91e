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
UNAUTHORIZED = Problem("unauthorized", 401, "Uploads need an enrolment token of this provider.")
NO_SUCH_TASK = Problem("no-such-task", 404, "This collector has no task of that address.")
NOT_FOUND = Problem("not-found", 404, "There is nothing at this address.")
METHOD = Problem("method", 405, "This address does not answer to that method.")
SLOW = Problem("slow", 408, "The body took more than 15 seconds. Send it again.")
CONFLICT = Problem("conflict", 409, "Another report has this id; the first one was kept.")
TOO_LARGE = Problem("too-large", 413, "An upload has at most 262144 bytes and 200 reports.")
PEOPLE = Problem("too-large", 413, "This upload names more people than one may. Send fewer.")
MEDIA = Problem("media-type", 415, "Send application/json without a content-encoding.")
MECHANISM = Problem("unknown-mechanism", 422, "The task does not offer this channel.")
EPOCH = Problem("epoch", 422, "The epoch is not one that is collected now.")
CELLS = Problem("cells", 422, "The cells are not those asked, or no symbols of the table.")
LIMIT = Problem(
    "limit",
    429,
    "More than this token may send in an epoch, or for more people. Nothing of it is stored.",
    retry_after=3600,
)
BUSY = Problem("busy", 503, "Too many uploads wait to be stored.", retry_after=2)
FAILED = Problem("failed", 500, "The collector failed at this. Send it again.", retry_after=10)
UNAVAILABLE = Problem("unavailable", 503, "Reports cannot be stored just now.", retry_after=10)
