"""Drawing of reports in a sync: all due reports are paid for and stored before any is sent.

One transaction: debit, draw, store the result, and the exact bytes of the report. After a crash
before its end nothing was drawn; after it everything is stored, to be sent unchanged as often as
necessary.

A task that is answered block by block is paid for in full before its first answer. What the device
reports, and when, then depends on its secret and on epochs alone: neither on ratings, nor on what
they have cost.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tacit.channels.table import Channel, Words, draw, secret_word
from tacit.device.provider import Named
from tacit.device.storage.store import Store
from tacit.errors import BudgetError, DataError, RequestError
from tacit.privacy.ledger import nano
from tacit.wire import report as wire_report
from tacit.wire.report import Report, dumps
from tacit.wire.tasks.blocks import Growth
from tacit.wire.tasks.task import Task, asked


@dataclass(frozen=True)
class Question:
    """A verified task to report to.

    `number`: of the task in the store. `channel`: to report through. `named`: inputs of pseudonyms.
    """

    task: Task
    number: int
    channel: Channel
    named: Named


def answer(
    store: Store, question: Question, epoch: int, words: Words = secret_word
) -> list[BudgetError]:
    """Put all reports that are due in `epoch` into the outbox, atomically and durably.

    Returns a refusal for each rating that cannot be reported within the lifetime limit. Raises
    `BudgetError` if the limit does not allow a first report of slots through a channel, or the
    limit of a task that is answered block by block. `words` is replaced in tests only; if the
    source fails nothing is drawn.
    """
    if epoch < 0:
        return []
    with store.transaction():
        session = _Session(store, question, epoch, words)
        if question.task.growth is not None:
            session.blocks(question.task.growth)
        else:
            session.slots() if question.task.hides_presence else session.rated()
        store.spend(session.ledger)
    return session.refusals


class _Session:
    """State of one transaction: stored answers, the ledger, and refusals."""

    def __init__(self, store: Store, question: Question, epoch: int, words: Words) -> None:
        self.ledger, self.refusals = store.ledger, list[BudgetError]()
        self._db, self._question, self._epoch, self._words = store.db, question, epoch, words
        self._secret, self._named = store.secret, question.named
        self._key = (question.number, question.task.channels.index(question.channel))
        missing = question.channel.missing
        self._rows = {p: n + missing for p, n in store.ratings(question.number).items()}
        query = "SELECT place, row, symbol FROM answer WHERE task = ? AND channel = ?"
        self._known = {(p, row): symbol for p, row, symbol in self._db.execute(query, self._key)}

    def rated(self) -> None:
        """Report each rating that differs from the last reported one, through any channel."""
        last = dict(self._db.execute("SELECT place, row FROM last WHERE task = ?", self._key[:1]))
        for index, row in sorted(self._rows.items()):
            if last.get(index) != row and not self._is_made(index):
                with self._refusing():
                    symbol = self._symbol(index, row)
                    self._untell(index)
                    self._report(index, {index: row}, [symbol])

    def slots(self) -> None:
        """Make one report for all queried items, rated or not.

        Raises `BudgetError` if the limit does not allow the first one through this channel. Its
        price does not depend on ratings, and no later report is ever withheld.
        """
        if self._is_made(None):
            return
        places = asked(self._question.task, self._me)
        query = "SELECT place, row FROM last WHERE task = ? AND channel = ?"
        last: dict[int, int] = dict(self._db.execute(query, self._key))
        if not last:
            self.ledger.debit(self._cost * len(places))
        rows = {p: self._affordable(p, self._rows.get(p, 0), last.get(p, 0)) for p in places}
        if not rows.items() <= self._known.keys():
            raise DataError(
                "The store is damaged: a symbol reported earlier is missing; restore a backup."
            )
        self._report(None, rows, [self._known[cell] for cell in rows.items()])

    def blocks(self, growth: Growth) -> None:
        """Report each block whose time has come, in order, up to the limit of the task.

        Raises `BudgetError`, before anything is drawn, if the ledger does not allow the limit in
        all generations. No later refusal exists.
        """
        self._reserve(growth)
        named, hashes, queried = self._named, self._question.task.item_hashes, 0
        assert named.provider is not None, "a task with blocks names its provider"
        generation = growth.generation(self._epoch)
        for block, address in zip(growth.blocks, self._question.task.chain, strict=True):
            key = wire_report.block_key(self._secret, named.provider, address)
            places = block.places(key, hashes)
            queried += len(places)
            if queried > growth.limit:
                return
            if places and block.open_from <= self._epoch:
                names = (named.provider, named.task, address, generation)
                id = wire_report.block_report_id(self._secret, *names)
                if not self._is_stored(id):
                    self._block(id, key, generation, places)

    def _reserve(self, growth: Growth) -> None:
        """Debit the limit, whatever the device will be queried about, and fix the channel."""
        number, channel = self._key
        chosen = self._db.execute("SELECT channel FROM chain WHERE task = ?", (number,)).fetchone()
        if chosen is None:
            self.ledger = self.ledger.debit(self._cost * growth.limit * growth.generations)
            self._db.execute("INSERT INTO chain VALUES (?, ?)", (number, channel))
        elif chosen[0] != channel:
            raise RequestError("A task that is answered block by block has one channel for all.")

    def _block(self, id: str, key: str, generation: int, places: tuple[int, ...]) -> None:
        """Draw each place of a block, and put the report into the outbox."""
        channel, number = self._question.channel, self._key[0]
        symbols: list[int] = []
        for index in places:
            row = self._rows.get(index, 0)
            # One fresh word per place and generation, whatever its row is or becomes: a second
            # draw would show that the rating changed. The table refuses a second row.
            symbols.append(draw(channel, row, self._words))
            values = (number, generation, index, row, symbols[-1])
            self._db.execute("INSERT INTO block VALUES (?, ?, ?, ?, ?)", values)
        report = Report(id, channel.id, self._epoch, self._me, places, tuple(symbols), key)
        row = (id, number, self._epoch, places[0], dumps(report, channel))
        self._db.execute("INSERT INTO report VALUES (?, ?, ?, ?, ?)", row)

    @property
    def _me(self) -> str:
        return wire_report.person(self._secret, *self._named)

    @property
    def _cost(self) -> int:
        return nano(self._question.channel.epsilon)

    def _affordable(self, index: int, row: int, last: int) -> int:
        """Return the row to report: `row`, or `last` again if the budget does not allow `row`.

        A report is sent in any case: silence would reveal a new rating.
        """
        with self._refusing():
            self._symbol(index, row)
            return row
        return last

    @contextmanager
    def _refusing(self) -> Generator[None]:
        try:
            yield
        except BudgetError as error:
            self.refusals.append(error)

    def _symbol(self, index: int, row: int) -> int:
        """Return the stored answer, for free; or debit, draw and store, in this order."""
        if (index, row) not in self._known:
            self.ledger = self.ledger.debit(self._cost)
            # One fresh word per cell and value, never a second one: two draws on the same rating
            # add up, and two cells with a shared word would be correlated.
            symbol = draw(self._question.channel, row, self._words)
            values = (*self._key, index, row, symbol)
            self._db.execute("INSERT INTO answer VALUES (?, ?, ?, ?, ?)", values)
            self._known[index, row] = symbol
        return self._known[index, row]

    def _is_made(self, slot: int | None) -> bool:
        return self._is_stored(self._id(slot))

    def _is_stored(self, id: str) -> bool:
        return self._db.execute("SELECT 1 FROM report WHERE id = ?", (id,)).fetchone() is not None

    def _id(self, slot: int | None) -> str:
        task, provider = self._named
        return wire_report.report_id(self._secret, task, self._epoch, slot, provider)

    def _untell(self, index: int) -> None:
        """Delete the last reported value: under `rated` an item has one, not one per channel."""
        self._db.execute("DELETE FROM last WHERE task = ? AND place = ?", (self._key[0], index))

    def _report(self, slot: int | None, rows: dict[int, int], symbols: list[int]) -> None:
        """Put the bytes of one report into the outbox; an existing id is rejected there."""
        channel = self._question.channel
        names = (self._id(slot), channel.id, self._epoch, self._me)
        report = Report(*names, tuple(rows), tuple(symbols))
        values = (report.id, self._key[0], self._epoch, slot, dumps(report, channel))
        self._db.execute("INSERT INTO report VALUES (?, ?, ?, ?, ?)", values)
        reported = [(*self._key, index, row, report.id) for index, row in rows.items()]
        self._db.executemany("INSERT OR REPLACE INTO last VALUES (?, ?, ?, ?, ?)", reported)
