"""Collectors and databases as processes of their own, to be stopped without warning."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

CLI = (sys.executable, "-c", "from tacit.cli import main; main()")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ServerProcess:
    """A server on `port`, started by `command`, which writes to `log`."""

    def __init__(self, command, port: int, log: Path):
        self._command, self.port, self.log = command, port, log
        self.start()

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)
        for _ in range(1200):  # a minute: under strace, on a busy machine, all of Python is slow
            with contextlib.suppress(OSError):
                if self.get("/healthz")[0] == 200:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.kill()
        raise AssertionError(self.log.read_text())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, by=signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait(20)

    def get(self, path: str) -> tuple[int, bytes]:
        return self.request("GET", path)

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.read()

    def memory(self, what="VmRSS") -> int:
        """MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(f"{what}:")[1].split()[0]) // 1024


class CollectorProcess(ServerProcess):
    """`tacit collect` over a store, always on one port: `at`, if given. `before`: words before the
    command; `older`: tasks that are served after `task`; an option of None is one that takes no
    value."""

    def __init__(
        self, folder: Path, task, db: str | None = None, before=(), older=(), at=None, **options
    ):
        port = at or free_port()
        self.db = db or str(folder / "reports.db")
        where = ["--db", self.db, "--port", str(port)]
        for each in (task, *older):
            file = folder / f"{each.address}.json"
            file.write_bytes(each.document)
            where += ["--task", str(file)]
        given = [
            word
            for name, value in options.items()
            for word in (f"--{name.replace('_', '-')}", *([] if value is None else [str(value)]))
        ]
        command = [*before, *CLI, "collect", *where, *given]
        super().__init__(command, port, folder / "collector.log")


class PostgresProcess:
    """A PostgreSQL server with a fresh cluster in a folder that anybody may enter."""

    def __init__(self, folder: Path):
        self.port = free_port()
        self.folder = folder
        self._as = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self._as:
            shutil.chown(folder, "postgres")
        self._run("initdb", "--auth=trust", "--username=postgres", "-D", folder / "cluster")
        self.start()

    def start(self):
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.folder / "cluster", "-l", log, "-o", options, "-w", "start")

    def database(self) -> str:
        """The address of a new database."""
        name = f"t{os.urandom(8).hex()}"
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        self._run("createdb", *where, name)
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def stop(self, mode="immediate"):
        self._run("pg_ctl", "-D", self.folder / "cluster", "-m", mode, "-w", "stop")

    def _run(self, program, *arguments):
        found = shutil.which(program) or max(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
        subprocess.run(
            [*self._as, found, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=self.folder
        )
