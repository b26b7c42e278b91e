"""Reports of a task, written to a collector's store as devices would send them."""

from contextlib import closing

from tacit.collector.storage.addresses import open_store
from tacit.collector.storage.slot_codec import pack_rated
from tacit.collector.storage.store import StoredReport


def store_reports(path, task, reports, people, rows):
    """Store some rows of the reports. `people`: the pseudonym of each user, 16 bytes."""
    items = reports.item_ids.ids.to_list()

    def stored(k):
        place = task.items.index(items[reports.items[k]])
        cells = pack_rated(place, int(reports.symbols[k]))
        return StoredReport(k.to_bytes(16), number, 3, 0, people[reports.users[k]], cells)

    with closing(open_store(str(path))) as opened:
        number = opened.hold(task.document).number
        opened.insert([stored(k) for k in rows])
