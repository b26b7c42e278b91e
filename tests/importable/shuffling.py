"""A shuffler in this process, on a clock that tests move, with people and a provider."""

import threading
import time
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import uvicorn
from shuffled_tasks import CLOSES, PROVIDER, SHUFFLER
from starlette.testclient import TestClient

from tacit.collector.http.server import listening
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.device.shuffled.client import ShuffledClient, ShuffledPolicy
from tacit.device.transport import Answer
from tacit.shuffler.app import application
from tacit.shuffler.shuffler import STORE
from tacit.wire.shuffled import register

PROVIDER_TOKEN = "provider"
POLICY = ShuffledPolicy(most_epsilon="8", honest="1", bundles=20)
PATIENCE = 30
"""Seconds after which a test gives up; none takes so long where it passes."""


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


@contextmanager
def served(app, port):
    """Serve an application during the block."""
    server = uvicorn.Server(uvicorn.Config(app, port=port, lifespan="on", log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def served_anew(made, port):
    """Serve a shuffler during the block, and the next one after it has deleted bundles.

    They share a socket, as those of `tacit shuffle`. `made`: returns one, from what it calls then.
    Returns all servers so far.
    """
    servers, is_over = [], threading.Event()

    def serve():
        while not is_over.is_set():
            app = made(lambda: setattr(servers[-1], "should_exit", True))
            servers.append(uvicorn.Server(uvicorn.Config(app, lifespan="on", log_config=None)))
            servers[-1].run(sockets=[listener.dup()])

    def is_ended():
        servers[-1].should_exit = True
        return not thread.is_alive()

    with closing(listening("127.0.0.1", port)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        wait_until(lambda: servers and servers[-1].started)
        try:
            yield servers
        finally:
            is_over.set()
            wait_until(is_ended)


@contextmanager
def served_task(folder, task, people, clock):
    """Serve a shuffler of a task during the block, to as many people with the tokens p0, p1, .."""
    folder.mkdir()
    tokens = Enrolment([sha256(f"p{each}".encode()).hexdigest() for each in range(people)], 1)
    provider = Enrolment([sha256(PROVIDER_TOKEN.encode()).hexdigest()], 1)

    def made(forgotten):
        return application(
            folder, [task], tokens, provider, clock=clock, every=0.01, forgotten=forgotten
        )

    with served_anew(made, urlsplit(task.shuffler).port):
        yield


def is_available(task):
    """Whether the shuffler of a task hands its batch over."""
    url = f"{task.shuffler}/v1/tasks/{task.address}/batch"
    request = Request(url, headers={"authorization": f"Bearer {PROVIDER_TOKEN}"})
    with suppress(OSError), urlopen(request) as response:  # it is refused, or starts anew
        return bool(response.read())
    return False


def registered(task):
    """The register that the shuffler of a task serves."""
    with urlopen(f"{task.shuffler}/v1/register") as response:
        return register.loads(response.read())


class Clock:
    """Unix seconds that only a test moves."""

    def __init__(self):
        self.now, self.reads = CLOSES - 1_000, 0

    def __call__(self):
        self.reads += 1
        return self.now


class Shuffling:
    """A shuffler over a folder, its client, and the devices that use it."""

    def __init__(self, folder, clock):
        self.folder, self.clock = folder, clock
        self.client = None
        self.has_deleted = False

    def application(self, *tasks, people=40, **options):
        digests = [sha256(f"person {index}".encode()).hexdigest() for index in range(people)]
        provider = [sha256(PROVIDER_TOKEN.encode()).hexdigest()]
        options = {"forgotten": lambda: setattr(self, "has_deleted", True)} | options
        return application(
            self.folder, tasks, Enrolment(digests, 1), Enrolment(provider, 1),
            clock=self.clock, every=0.01, **options,
        )  # fmt: skip

    def start(self, *tasks, **options):
        self.has_deleted = False
        self.client = TestClient(self.application(*tasks, **options))
        self.client.__enter__()
        return self

    def stop(self):
        if self.client is not None:
            self.client.__exit__(None, None, None)
            self.client = None

    def device(self, person, **changes):
        """A device with the token of a person."""

        def transport(method, path, body=None, longest=0):
            headers = {"authorization": f"Bearer person {person}"}
            if body is not None:
                headers["content-type"] = "application/octet-stream"
            response = self.client.request(method, path, content=body, headers=headers)
            return Answer(response.status_code, response.content)

        options = {
            "policy": POLICY, "lifetime": "50", "transport": transport, "clock": self.clock,
        }  # fmt: skip
        return ShuffledClient(":memory:", SHUFFLER, PROVIDER, **options | changes)

    def signed_file(self, task):
        """The answer to the provider's request for signed tokens."""
        headers = {"authorization": f"Bearer {PROVIDER_TOKEN}"}
        return self.client.get(f"/v1/tasks/{task.address}/tokens", headers=headers)

    def send(self, task, body, *, person=0, media="application/octet-stream"):
        headers = {"authorization": f"Bearer person {person}", "content-type": media}
        path = f"/v1/tasks/{task.address}/bundles"
        return self.client.post(path, content=body, headers=headers)

    def provider(self, method, task, token=PROVIDER_TOKEN):
        headers = {"authorization": f"Bearer {token}"}
        return self.client.request(method, f"/v1/tasks/{task.address}/batch", headers=headers)

    def close(self, task):
        """Move the clock to the closing time, and wait until the register shows the closing."""
        self.clock.now = task.closes
        wait_until(lambda: task.address in self.register().closed)
        return self.register().closed[task.address]

    def release(self, task):
        """Close a task, and wait until its batch is available, or was not released."""
        result = self.close(task)
        self.await_batch(task)
        return result

    def await_batch(self, task):
        """Wait until the batch of a closed task is available, or was not released."""
        wait_until(lambda: self._renewed().provider("GET", task).status_code != 503)

    def _renewed(self):
        """Start the next shuffler after this one has deleted bundles, as `tacit shuffle` does."""
        if self.has_deleted:
            self.stop()
            self.start()
        return self

    def crash(self, task, patched, owner, step, *, after):
        """Close a task in a process that ends before or after a step, and start the next one."""
        usual, reached = getattr(owner, step), []

        def dying(*arguments):
            reached.append(step)
            if after:
                usual(*arguments)
            raise RuntimeError("killed")

        patched.setattr(owner, step, dying)
        self.clock.now = task.closes
        wait_until(lambda: reached)
        self.stop()
        patched.undo()
        self.start()

    def register(self):
        return register.loads(self.client.get("/v1/register").content)

    def turn(self):
        """Wait until the shuffler has read the clock."""
        before = self.clock.reads
        wait_until(lambda: self.clock.reads > before + 3)

    def rows(self, number=2):
        """Stored bundles of the first task, or its tokens, which have the number 3."""
        with closing(SqliteReader(str(self.folder / STORE))) as reader:
            return [row for rows in reader.scan(number) for row in rows]

    def files(self) -> bytes:
        """The content of all files, after the bundles were deleted."""
        return b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())
