"""The JSON of an upload: its form is checked while it is parsed. Whether anybody asked for what it
says is for `tacit.collector.http.validation`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from tacit.collector.http.problems import Problem, ProblemError
from tacit.wire.report import MOST_REPORTS

Name = Annotated[str, Meta(min_length=32, max_length=32)]


class Sent(Struct, forbid_unknown_fields=True, gc=False):
    """A report as it was sent; the fields are those of `tacit.wire.report.Report`. That names are
    hexadecimal is seen when they become bytes."""

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
"""Quotation marks: of the key of an upload, of six keys and three texts of a report."""
TWICE = Problem("malformed", 400, "A key occurs twice, or a text holds a quotation mark.")


def read(body: bytes) -> list[Sent]:
    """The reports of an upload. Raises `ProblemError` for anything but JSON of that form: numbers
    that are not whole, keys that are unknown, missing or repeated, more reports than one upload may
    have."""
    try:
        reports = _DECODER.decode(body).reports
    except (DecodeError, RecursionError, UnicodeDecodeError) as error:
        # The sentence names the place and the types; it repeats nothing of what was sent.
        raise ProblemError(Problem("malformed", 400, f"{error}.")) from None
    # The decoder takes the last of equal keys. Every key and every text stands between two marks,
    # and all of them are there: with as many marks as that takes, none is there twice.
    if body.count(b'"') != OF_UPLOAD + OF_REPORT * len(reports):
        raise ProblemError(TWICE)
    return reports


def names(reports: Sequence[Sent]) -> list[tuple[bytes, bytes]]:
    """The 16 bytes of each report's id and of its person; raises `ProblemError` where one of them
    is not lowercase hexadecimal."""
    text = "".join([report.id + report.person for report in reports])
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if raw.hex() != text:  # `fromhex` also takes capitals and spaces
        raise ProblemError(Problem("malformed", 400, "A name is not 32 hexadecimal digits."))
    return [
        (raw[start : start + 16], raw[start + 16 : start + 32]) for start in range(0, len(raw), 32)
    ]
