"""A shuffler as a process of its own, with people and a provider."""

from contextlib import closing, suppress
from hashlib import sha256
from http.client import HTTPException

from processes import CLI, ServerProcess, free_port
from shuffled_tasks import item_task
from shuffling import PROVIDER_TOKEN, wait_until

from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.shuffler.shuffler import STORE
from tacit.shuffler.task_key import TaskKey
from tacit.wire.shuffled import register

PEOPLE = 30
KEY = TaskKey.generate()
TOKENS = [sha256(f"person {person}".encode()).hexdigest()[:40] for person in range(PEOPLE)]
LAUNCH = """
from functools import partial
from pathlib import Path
from tacit.shuffler import app, shuffler

read_clock = lambda: float(Path({clock!r}).read_text())
app.application = partial(app.application, clock=read_clock, every=0.01)
{planted}
from tacit.cli import main
main()
"""


class ShufflerProcess:
    """`tacit shuffle` on a clock in a file. `planted`: a change of its code. `people`: tokens.

    `signer`: of its task.
    """

    def __init__(self, folder, planted="", people=TOKENS, signer=None):
        port = free_port()
        self.folder, self.clock = folder / "shuffler", folder / "clock"
        shuffler = f"http://127.0.0.1:{port}"
        self.task = item_task(key=KEY.public, shuffler=shuffler, signer=signer)
        self.clock.write_text(str(self.task.closes - 1_000))
        (folder / "task.json").write_bytes(self.task.document)
        for name, tokens in (("people", people), ("provider", [PROVIDER_TOKEN])):
            digests = [sha256(token.encode()).hexdigest() for token in tokens]
            (folder / name).write_text("\n".join(digests))
        launch = LAUNCH.format(clock=str(self.clock), planted=planted)
        command = [
            *CLI[:2], launch, "shuffle", "--folder", self.folder, "--tokens", folder / "people",
            "--provider-tokens", folder / "provider", "--task", folder / "task.json",
            "--bundles", "20", "--honest", "1", "--port", str(port), "--log-json",
        ]  # fmt: skip
        self.server = ServerProcess(command, port, folder / "log")

    def send(self, bundles):
        path = f"/v1/tasks/{self.task.address}/bundles"
        for token, bundle in zip(TOKENS, bundles, strict=True):
            headers = {
                "authorization": f"Bearer {token}",
                "content-type": "application/octet-stream",
            }
            assert self.server.request("POST", path, bundle, headers)[0] == 200

    def close(self):
        """Move the clock to the closing time, and wait until the register shows the closing."""
        self.clock.write_text(str(self.task.closes))
        wait_until(self._is_closed)

    def is_renewed(self):
        return self.log().count('"started"') == 2

    def is_available(self):
        """Whether the provider can download the batch."""
        with suppress(OSError, HTTPException):  # a request that the renewal interrupts
            return self._answer("batch")[0] == 200
        return False

    def _is_closed(self):
        with suppress(OSError, HTTPException):
            document = self.server.get("/v1/register")[1]
            return self.task.address in register.loads(document).closed
        return False

    def batch(self, what="batch"):
        return self._answer(what)[1]

    def _answer(self, what):
        headers = {"authorization": f"Bearer {PROVIDER_TOKEN}"}
        path = f"/v1/tasks/{self.task.address}/{what}"
        return self.server.request("GET", path, headers=headers)

    def log(self):
        return self.server.log.read_text()

    def names(self):
        """The names of all senders in the store, of bundles and of tokens."""
        with closing(SqliteReader(str(self.folder / STORE))) as reader:
            return [row.id for number in (2, 3) for rows in reader.scan(number) for row in rows]

    def files(self):
        return b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())
