"""Validation of reports: every cell must be queried, and every symbol be in the channel's table.

The JSON schema of uploads is checked while parsing. The content is then checked against the task.
"""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, NamedTuple

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from tacit.collector.ingest import problems
from tacit.collector.ingest.problems import Problem, ProblemError
from tacit.collector.ingest.samples import Places, Samples
from tacit.collector.limits.keys import counted
from tacit.collector.storage.slot_codec import pack_block, pack_rated, pack_slots
from tacit.collector.storage.store import Held, StoredReport
from tacit.wire.report import BLOCK_SCHEMA, MOST_REPORTS, SCHEMA
from tacit.wire.tasks.task import Task

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
    key: Name | None = None


class UploadDocument(Struct, forbid_unknown_fields=True):
    """The body of a request."""

    reports: Annotated[list[Sent], Meta(min_length=1, max_length=MOST_REPORTS)]


_DECODER = Decoder(UploadDocument)
OF_UPLOAD, OF_REPORT, OF_KEY = 2, 18, 4
"""Quotation marks: of an upload's key, of a report's six keys and three strings, of a block key."""
TWICE = Problem("malformed", 400, "A key occurs twice, or a string contains a quotation mark.")


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
    keyed = sum(report.key is not None for report in reports)
    if body.count(b'"') != OF_UPLOAD + OF_REPORT * len(reports) + OF_KEY * keyed:
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
        raise ProblemError(
            Problem("malformed", 400, "A report id or pseudonym is not 32 hexadecimal digits.")
        )
    return [
        (raw[start : start + 16], raw[start + 16 : start + 32]) for start in range(0, len(raw), 32)
    ]


Refused = list[dict[str, str]]
Claim = tuple[str, Places]
"""A user, or a block key, and the item indices that are claimed to be queried."""


class Validated(NamedTuple):
    """Rows of an upload, and its refused reports.

    `people`: names in any of them. `claims`: with "sample:K" and blocks, one per row, to check.
    """

    rows: list[StoredReport]
    refused: Refused
    people: frozenset[bytes]
    claims: list[Claim]


class ReportValidator:
    """Validator of reports to one task.

    `held`: the task in the store. `closed`: last closed epoch. `counted`: address under which
    tokens are charged for it. `samples`: queried items of users, where they are expensive to
    compute; `worker` computes them.
    """

    def __init__(self, task: Task, held: Held, worker: ThreadPoolExecutor | None = None) -> None:
        self.task = task
        self.held = held
        self.closed = held.closed
        self.counted = counted(task)
        self._mechs = {
            channel.id: (index, len(channel.outputs)) for index, channel in enumerate(task.channels)
        }
        self._every = tuple(range(len(task.items)))
        self._rated = not task.hides_presence
        sampled = task.hides_presence and task.cells < len(task.items)
        self._growth = task.growth
        self.samples = Samples(task, worker) if sampled or task.growth else None
        self._is_queried = self._question()

    def validate(self, reports: Sequence[Sent], now: float) -> Validated:
        """Validate an upload at a moment, except for claims.

        Raises `ProblemError` for a malformed name: such a client is not ours, and nothing of its
        upload is stored.
        """
        rows: list[StoredReport] = []
        refused: Refused = []
        claims: list[Claim] = []
        people: set[bytes] = set()
        open_epochs = self.epochs(now)
        for report, (id, person) in zip(reports, names(reports), strict=True):
            people.add(person)
            try:
                mech, places, cells = self._checked(report, open_epochs)
            except ProblemError as error:
                refused.append(refusal(report.id, error.problem))
            else:
                rows.append(StoredReport(id, self.held.number, report.epoch, mech, person, cells))
                if self.samples is not None:
                    claims.append((report.key or report.person, places))
        return Validated(rows, refused, frozenset(people), claims)

    def epochs(self, now: float) -> range:
        """Return the epochs that are collected at a moment.

        `window` back, and one ahead for fast clocks; never a closed one.
        """
        epoch = self.task.epoch(now)
        return range(max(epoch - self.task.window, self.closed + 1, 0), epoch + 2)

    def _checked(self, report: Sent, open_epochs: range) -> tuple[int, Places, bytes]:
        """Return the index of the report's channel, the item indices and the packed cells."""
        entry = self._mechs.get(report.mech)
        schema = SCHEMA if self._growth is None else BLOCK_SCHEMA
        if entry is None or report.schema != schema:
            raise ProblemError(problems.MECHANISM)
        if report.epoch not in open_epochs:
            raise ProblemError(problems.EPOCH)
        mech, outputs = entry
        places, symbols = zip(*report.cells, strict=False)  # pairs, as checked by the schema
        if (report.key is None) != (self._growth is None) or not self._is_queried(places):
            raise ProblemError(problems.CELLS)
        if self._growth is not None and report.key is not None:
            block = self._growth.block_of(places[0])
            if report.epoch < self._growth.blocks[block].open_from:
                raise ProblemError(problems.EPOCH)
            return mech, places, _packed_block(block, report.key, symbols, outputs)
        return mech, places, self._packed(places, symbols, outputs)

    def _packed(self, places: Places, symbols: Sequence[int], outputs: int) -> bytes:
        try:
            cells = pack_slots(symbols, outputs)
        except ValueError:
            raise ProblemError(problems.CELLS) from None
        return pack_rated(places[0], symbols[0]) if self._rated else cells

    def _question(self) -> Callable[[Places], bool]:
        if self._rated:
            return self._one_of_the_catalogue
        if self._growth is not None:
            return self._of_a_block
        return self._the_catalogue if self.samples is None else self._a_sample

    def _one_of_the_catalogue(self, places: Places) -> bool:
        return len(places) == 1 and 0 <= places[0] < len(self._every)

    def _the_catalogue(self, places: Places) -> bool:
        return places == self._every

    def _of_a_block(self, places: Places) -> bool:
        """Return whether the indices could be queried in a block: ascending, in one block."""
        assert self._growth is not None
        if not 0 <= places[0] <= places[-1] < len(self._every) or len(places) > self.task.cells:
            return False
        first, last = map(self._growth.block_of, (places[0], places[-1]))
        return first == last and sorted(set(places)) == list(places)

    def _a_sample(self, places: Places) -> bool:
        """Return whether the indices could be a sample: right number, ascending, in range."""
        return (
            len(places) == self.task.cells
            and 0 <= places[0] <= places[-1] < len(self._every)
            and sorted(set(places)) == list(places)
        )


def _packed_block(block: int, key: str, symbols: Sequence[int], outputs: int) -> bytes:
    try:
        return pack_block(block, key, symbols, outputs)
    except ValueError:
        raise ProblemError(problems.CELLS) from None


def among(upload: Validated, right: Collection[Claim]) -> tuple[list[StoredReport], Refused]:
    """Return the rows with valid claims, and all refused reports."""
    rows: list[StoredReport] = []
    refused = list(upload.refused)
    for row, claim in zip(upload.rows, upload.claims, strict=True):
        if claim in right:
            rows.append(row)
        else:
            refused.append(refusal(row.id.hex(), problems.CELLS))
    return rows, refused


def refusal(id: str, problem: Problem) -> dict[str, str]:
    """Return the entry of a refused report in the answer."""
    return {"id": id, "problem": problem.name, "detail": problem.detail}
