"""JSON schema of uploads, checked while parsing.

`tacit.collector.http.validation` checks the content against the task.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from tacit.collector.http.problems import Problem, ProblemError
from tacit.wire.report import MOST_REPORTS

Name = Annotated[str, Meta(min_length=32, max_length=32)]


class Sent(Struct, forbid_unknown_fields=True, gc=False):
    """A report as sent, with the fields of `tacit.wire.report.Report`.

    That names are hexadecimal is checked when they are converted to bytes.
    """

    id: Name
    mech: str
    schema: int
    epoch: int
    person: Name
    cells: Annotated[list[tuple[int, int]], Meta(min_length=1)]


class UploadDocument(Struct, forbid_unknown_fields=True):
    """The body of a request."""

    reports: Annotated[list[Sent], Meta(min_length=1, max_length=MOST_REPORTS)]


_DECODER = Decoder(UploadDocument)
OF_UPLOAD, OF_REPORT = 2, 18
"""Quotation marks: of an upload's key, and of a report's six keys and three strings."""
TWICE = Problem("malformed", 400, "A key occurs twice, or a text holds a quotation mark.")


def read(body: bytes) -> list[Sent]:
    """Return the reports of an upload.

    Raises `ProblemError` for any other JSON: numbers that are not integers, unknown, missing or
    repeated keys, or more reports than one upload may have.
    """
    try:
        reports = _DECODER.decode(body).reports
    except (DecodeError, RecursionError, UnicodeDecodeError) as error:
        # The message names the position and the types, and repeats no input.
        raise ProblemError(Problem("malformed", 400, f"{error}.")) from None
    # The decoder uses the last of equal keys. Every key and every string is between two marks, and
    # all of them are present: with exactly that many marks, none is repeated.
    if body.count(b'"') != OF_UPLOAD + OF_REPORT * len(reports):
        raise ProblemError(TWICE)
    return reports


def names(reports: Sequence[Sent]) -> list[tuple[bytes, bytes]]:
    """Return the 16 bytes of each report's id and person.

    Raises `ProblemError` if one of them is not lowercase hexadecimal.
    """
    text = "".join([report.id + report.person for report in reports])
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if raw.hex() != text:  # `fromhex` also accepts capitals and spaces
        raise ProblemError(Problem("malformed", 400, "A name is not 32 hexadecimal digits."))
    return [
        (raw[start : start + 16], raw[start + 16 : start + 32]) for start in range(0, len(raw), 32)
    ]
