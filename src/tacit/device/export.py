"""Export of a store's data about its user."""

from typing import Any

from tacit.device.row_check import check_rows
from tacit.device.store import Store
from tacit.privacy.ledger import nats
from tacit.scale import shortest
from tacit.wire.task import Task, loads


def export(store: Store) -> dict[str, Any]:
    """Return ratings, drawn answers and epsilon spent as JSON values, without the secret.

    The export does not allow to report in the user's name: it has no pseudonym, no token and no
    report bytes. An answer is (item, value it was drawn for, epsilon, symbol), a last report (item,
    value, epsilon); the value is None where the item was unrated.
    """
    ledger = store.ledger
    met = store.db.execute("SELECT number, address, document FROM task ORDER BY number").fetchall()
    return {
        "spent": nats(ledger.spent),
        "lifetime": nats(ledger.limit),
        "tasks": [
            _task(store, number, loads(document, address)) for number, address, document in met
        ],
    }


def _task(store: Store, number: int, task: Task) -> dict[str, Any]:
    check_rows(store.db, number, task)
    levels = [shortest(level) for level in task.scale.levels]
    values = [None, *levels] if task.hides_presence else levels
    epsilons = [channel.epsilon for channel in task.channels]
    answers = "SELECT place, row, channel, symbol FROM answer WHERE task = ? ORDER BY place, row"
    last = "SELECT place, row, channel FROM last WHERE task = ? ORDER BY place, channel"
    reports = "SELECT epoch, document FROM report WHERE task = ? ORDER BY epoch, place"
    return {
        "task": task.address,
        "name": task.name,
        "ratings": [
            (task.items[index], levels[level])
            for index, level in sorted(store.ratings(number).items())
        ],
        "answers": [
            (task.items[index], values[row], epsilons[channel], symbol)
            for index, row, channel, symbol in store.db.execute(answers, (number,)).fetchall()
        ],
        "reported": [
            (task.items[index], values[row], epsilons[channel])
            for index, row, channel in store.db.execute(last, (number,)).fetchall()
        ],
        "reports": [
            {"epoch": epoch, "waiting": document is not None}
            for epoch, document in store.db.execute(reports, (number,))
        ],
    }
