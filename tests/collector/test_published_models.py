"""Published models: what publishes, hides and rolls back at once leaves no hidden item."""

import threading
from array import array

from tacit.collector.storage import published_models
from tacit.collector.storage.published_models import PublishedModels
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.list_model import ListModel

TASK = "ab" * 32


def lists(first: float) -> ListModel:
    return ListModel((42, 43), array("f", [first, 1.0]), NO_PRIVACY)


def test_an_item_that_is_hidden_during_a_publication_stays_hidden(tmp_path, monkeypatch):
    """The publication has read the list of hidden items, and waits before it writes the model."""
    folder = PublishedModels(tmp_path)
    folder.publish(TASK, lists(2.0))
    hiding = threading.Thread(target=PublishedModels(tmp_path).hide, args=([42],))
    write = published_models.write_atomically

    def interleaved(path, content):
        if not hiding.ident:
            hiding.start()
            hiding.join(0.2)  # without a lock, it ends here
        write(path, content)

    monkeypatch.setattr(published_models, "write_atomically", interleaved)
    folder.publish(TASK, lists(3.0))
    hiding.join()
    served = ListModel.from_bytes(folder.model(folder.newest(TASK)))
    assert [served.items[index] for index in served.hidden] == [42]
    assert list(served.popularity) == [3.0, 1.0]
