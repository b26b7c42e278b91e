"""A provider whose catalogue grows: a collector in this process, and devices of it."""

from contextlib import ExitStack

from starlette.testclient import TestClient

from tacit.collector.http.app import application
from tacit.collector.storage.published_models import PublishedModels
from tacit.device.client import Client
from tacit.device.transport import Answer

PROVIDER = "https://films.example"


class Shop:
    """`serve` starts the collector again with other tasks."""

    def __init__(self, folder, clock):
        self.store, self.clock = str(folder / "reports.db"), clock
        self.published = PublishedModels(folder / "models")
        self._collector, self._devices = ExitStack(), ExitStack()
        self.client = None

    def serve(self, *tasks):
        self._collector.close()
        app = application(self.store, tasks, clock=self.clock, published=self.published)
        self.client = self._collector.enter_context(TestClient(app))
        return self.client

    def device(self, path=":memory:", **changes):
        terms = {"most_epsilon": "2", "lifetime": "1000", "clock": self.clock} | changes
        client = Client(path, PROVIDER, transport=self._transport, **terms)
        return self._devices.enter_context(client)

    def _transport(self, method, path, body=None, longest=0):
        headers = {"content-type": "application/json"}
        response = self.client.request(method, path, content=body, headers=headers)
        return Answer(response.status_code, response.content)

    def close(self):
        self._devices.close()
        self._collector.close()
