"""What a sync draws: every answer that is due, paid for and remembered before any of it leaves.

One transaction: debit, draw, remember, and the very bytes of the report. A crash before its end
has drawn nothing; after it everything is there to be sent, as often as it takes, unchanged.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tacit.channels.draw import Words, draw, secret_word
from tacit.channels.table import Channel
from tacit.device.provider import Named
from tacit.device.store import Store
from tacit.errors import BudgetError, DataError
from tacit.privacy.ledger import nano
from tacit.wire import pseudonym
from tacit.wire.report import Report, dumps
from tacit.wire.schedule import asked
from tacit.wire.task import Task


@dataclass(frozen=True)
class Question:
    """A verified task, its number in the store, the channel of it to answer through, and what the
    person's names are made for."""

    task: Task
    number: int
    channel: Channel
    named: Named


def answer(
    store: Store, question: Question, epoch: int, words: Words = secret_word
) -> list[BudgetError]:
    """Put the reports that are due in `epoch` into the outbox: all of them on disk, or none.

    Gives back a refusal for each rating that the lifetime limit leaves without an answer of its
    own; raises `BudgetError` where it does not allow a first report for slots through a channel.
    `words` is replaced in tests only; when the source fails nothing is drawn.
    """
    if epoch < 0:
        return []
    with store.transaction():
        session = _Session(store, question, epoch, words)
        session.slots() if question.task.hides_presence else session.rated()
        store.spend(session.ledger)
    return session.refusals


class _Session:
    """One transaction's view: what is known, the ledger as it goes, and what it refused."""

    def __init__(self, store: Store, question: Question, epoch: int, words: Words) -> None:
        self.ledger, self.refusals = store.ledger, list[BudgetError]()
        self._db, self._question, self._epoch, self._words = store.db, question, epoch, words
        self._secret, self._named = store.secret, question.named
        self._key = (question.number, question.task.channels.index(question.channel))
        missing = question.channel.missing
        self._rows = {p: n + missing for p, n in store.ratings(question.number).items()}
        told = "SELECT place, row, symbol FROM answer WHERE task = ? AND channel = ?"
        self._known = {(p, row): symbol for p, row, symbol in self._db.execute(told, self._key)}

    def rated(self) -> None:
        """A report for each rating that is not the one told last, through whichever channel."""
        last = dict(self._db.execute("SELECT place, row FROM last WHERE task = ?", self._key[:1]))
        for place, row in sorted(self._rows.items()):
            if last.get(place) != row and not self._is_made(place):
                with self._refusing():
                    symbol = self._symbol(place, row)
                    self._untell(place)
                    self._report(place, {place: row}, [symbol])

    def slots(self) -> None:
        """One report for every place asked about, whatever was rated.

        Raises `BudgetError` where the limit does not allow the first one through this channel. Its
        price is the same whatever was rated, and no later one is ever withheld.
        """
        if self._is_made(None):
            return
        places = asked(self._question.task, self._me)
        told = "SELECT place, row FROM last WHERE task = ? AND channel = ?"
        last: dict[int, int] = dict(self._db.execute(told, self._key))
        if not last:
            self.ledger.debit(self._cost * len(places))
        rows = {p: self._affordable(p, self._rows.get(p, 0), last.get(p, 0)) for p in places}
        if not rows.items() <= self._known.keys():
            raise DataError("The store is damaged: an earlier answer is missing; restore a backup.")
        self._report(None, rows, [self._known[cell] for cell in rows.items()])

    @property
    def _me(self) -> str:
        return pseudonym.person(self._secret, *self._named)

    @property
    def _cost(self) -> int:
        return nano(self._question.channel.epsilon)

    def _affordable(self, place: int, row: int, last: int) -> int:
        """The row to answer from: `row`, or `last` again where nothing is left for `row`.

        A report is sent all the same: silence would tell that the person rated anew.
        """
        with self._refusing():
            self._symbol(place, row)
            return row
        return last

    @contextmanager
    def _refusing(self) -> Generator[None]:
        try:
            yield
        except BudgetError as error:
            self.refusals.append(error)

    def _symbol(self, place: int, row: int) -> int:
        """The answer given before, at no cost; or debit, draw and remember, in this order."""
        if (place, row) not in self._known:
            self.ledger = self.ledger.debit(self._cost)
            # One fresh word a cell and value, and never a second one: two draws on the same rating
            # add up, and two cells that shared a word would tell on each other.
            symbol = draw(self._question.channel, row, self._words)
            values = (*self._key, place, row, symbol)
            self._db.execute("INSERT INTO answer VALUES (?, ?, ?, ?, ?)", values)
            self._known[place, row] = symbol
        return self._known[place, row]

    def _is_made(self, slot: int | None) -> bool:
        found = self._db.execute("SELECT 1 FROM report WHERE id = ?", (self._id(slot),))
        return found.fetchone() is not None

    def _id(self, slot: int | None) -> str:
        task, provider = self._named
        return pseudonym.report_id(self._secret, task, self._epoch, slot, provider)

    def _untell(self, place: int) -> None:
        """Under `rated` a place has one value told last, not one for each channel."""
        self._db.execute("DELETE FROM last WHERE task = ? AND place = ?", (self._key[0], place))

    def _report(self, slot: int | None, rows: dict[int, int], symbols: list[int]) -> None:
        """The bytes of one report into the outbox; an id that was made before is refused there."""
        channel = self._question.channel
        names = (self._id(slot), channel.id, self._epoch, self._me)
        report = Report(*names, tuple(rows), tuple(symbols))
        values = (report.id, self._key[0], self._epoch, slot, dumps(report, channel))
        self._db.execute("INSERT INTO report VALUES (?, ?, ?, ?, ?)", values)
        told = [(*self._key, place, row, report.id) for place, row in rows.items()]
        self._db.executemany("INSERT OR REPLACE INTO last VALUES (?, ?, ?, ?, ?)", told)
