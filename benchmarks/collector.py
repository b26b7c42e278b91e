"""What the collector stores a second, the generator on the same two cores, every commit on disk.

    python benchmarks/collector.py [--seconds 4] [--rounds 5] [--before CHECKOUT] [--json FILE.json]
    python benchmarks/collector.py --soak 60

Reports of 32 cells, as under the plan catalogue, of people and ids that never repeat. In turn: a
bare Starlette route that reads the body and answers 200; one report a request on 64 connections;
50 a request on 16; and three times as many connections that send again at once, whatever they are
told. Server and generator are processes of their own. Bars: single requests at .65 of the bare
route's and 6,000 a second; 45,000 reports a second; p99 at most 50 ms; under overload nothing but
200 and 503, half of the peak stored, accepted p99 at most 500 ms, at most 256 MiB.

With `--soak MINUTES`, one server gets uploads for that time: without pause for a twelfth of it,
which fills SQLite's cache of 64 MiB, then during a second in ten. The resident memory at the end
may be at most 1.1 times that after the twelfth, which is five minutes of an hour.

With a checkout of another version, its collector takes turns with this one: single reports at .7 of
it and 8,000 a second, 50 a request at .9 of it.
"""

import argparse
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit.channels import compile_channel
from tacit.collector.http.app import application
from tacit.collector.http.server import listening, serve
from tacit.scale import RatingScale
from tacit.wire.report import Report, dumps, upload
from tacit.wire.tasks.task import Task

HERE, SCRIPT = Path(__file__).parents[1], "benchmarks/collector.py"
STARS = RatingScale.parse("1:5:1")
CELLS = 32
TASK = Task(
    name="Load",
    scale=STARS,
    plan="catalogue",
    items=tuple(range(CELLS)),
    channels=(compile_channel("randomized-response", epsilon="1", scale=STARS, missing=True),),
    start=0,
    epoch_seconds=366 * 86_400,
    retention_days=4000,
)
PATHS = {"bare": "/bare", "collector": f"/v1/tasks/{TASK.address}/reports"}


class Load(NamedTuple):
    """What one generator run sends, and to whom."""

    party: str
    each: int
    connections: int


SINGLE, BATCH = Load("collector", 1, 64), Load("collector", 50, 16)
BARE = Load("bare", 1, 64)
OVERLOADS = (Load("collector", 1, 192), Load("collector", 50, 48), Load("collector", 50, 256))


def _request(load: Load) -> bytes:
    """An upload with holes for ids and people, which are all of one length."""
    channel, epoch = TASK.channels[0], TASK.epoch(time.time())
    reports: list[bytes] = []
    for _ in range(load.each):
        symbols = tuple(secrets.randbelow(len(channel.outputs)) for _ in range(CELLS))
        reports.append(
            dumps(Report("%s", channel.id, epoch, "%s", tuple(range(CELLS)), symbols), channel)
        )
    body = upload(reports)
    head = (
        f"POST {PATHS[load.party]} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body) + 2 * load.each * (32 - len('%s'))}\r\n\r\n"
    )
    return head.encode() + body


def _generate(load: Load, port: int, seconds: float) -> dict[str, Any]:
    """Each connection sends a request, waits for the answer and sends the next. Sockets and epoll
    alone: what a client library costs would be taken from the server, which has the same cores."""
    request, names = _request(load), 2 * load.each
    sockets: dict[int, socket.socket] = {}
    sent: dict[int, float] = {}
    said: defaultdict[int, bytes] = defaultdict(bytes)
    answers: list[tuple[int, float]] = []
    polled = select.epoll()

    def send(number: int) -> None:
        digits = secrets.token_hex(16 * names).encode()
        filled = request % tuple(digits[32 * k : 32 * k + 32] for k in range(names))
        sent[number] = time.perf_counter()
        sockets[number].sendall(filled)

    for _ in range(load.connections):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sockets[connection.fileno()] = connection
        polled.register(connection, select.EPOLLIN)
    begun = time.perf_counter()
    for number in sockets:
        send(number)
    while sent:
        for number, _ in polled.poll():
            part = sockets[number].recv(65_536)
            if not part:
                raise ConnectionError("The server closed a connection before it had answered.")
            said[number] += part
            if said[number].endswith(b"}"):  # each answer is an object, and nothing else ends so
                now = time.perf_counter()
                answers.append((int(said.pop(number)[9:12]), now - sent.pop(number)))
                if now < begun + seconds:
                    send(number)
    return _figures(load, answers, time.perf_counter() - begun)


def _figures(load: Load, answers: list[tuple[int, float]], took: float) -> dict[str, Any]:
    accepted = sorted(wait for status, wait in answers if status == 200)
    return {
        "requests": len(accepted) / took,
        "reports": len(accepted) * load.each / took,
        "p50": accepted[len(accepted) // 2] * 1000,
        "p99": accepted[int(len(accepted) * 0.99)] * 1000,
        "statuses": dict(Counter(status for status, _ in answers)),
    }


@contextmanager
def _server(party: str, tree: Path = HERE) -> Generator[tuple[int, int]]:
    """A fresh server of a checkout with a fresh store: its process and its port."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        server = subprocess.Popen(
            [sys.executable, tree / SCRIPT, "--serve", party, folder, str(port)],
            env=os.environ | {"PYTHONPATH": str(tree / "src")},
        )
        try:
            _await(port)
            yield server.pid, port
        finally:
            server.terminate()
            server.wait()


def _generated(load: Load, port: int, seconds: float) -> dict[str, Any]:
    """The figures of a generator, which is a process of its own."""
    given = [load.party, str(load.each), str(load.connections), str(port), str(seconds)]
    command = [sys.executable, __file__, "--generate", *given]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def _memory(process: int, field: str) -> float:
    """MiB of a process, `VmRSS` now or `VmHWM` at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


def measure(load: Load, seconds: float, tree: Path = HERE) -> dict[str, Any]:
    """One run: a fresh server of a checkout, a fresh store, a generator."""
    with _server(load.party, tree) as (process, port):
        figures = _generated(load, port, seconds)
        return figures | {"MiB": int(_memory(process, "VmHWM"))}


def soak(minutes: float) -> int:
    """Upload, print the memory, and compare its end with that after a twelfth of the time."""
    load, rows = Load("collector", 50, 4), list[tuple[float, float]]()
    with _server(load.party) as (process, port):
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < 60 * minutes:
            figures = _generated(load, port, 1)
            if set(figures["statuses"]) != {"200"}:
                print(f"SHORT answers {figures['statuses']}")
                return 1
            rows.append((passed, _memory(process, "VmRSS")))
            if len(rows) % 30 == 1:
                print(f"{passed / 60:5.1f} min {rows[-1][1]:6.1f} MiB", flush=True)
            if passed > 60 * minutes / 12:
                time.sleep(max(0, min(9, 60 * minutes - (time.monotonic() - begun))))
    early = max(memory for passed, memory in rows if passed <= 60 * minutes / 12)
    growth = rows[-1][1] / early
    _say(
        {
            f"memory at the end: 1.1 times that after {minutes / 12:g} min ({growth:.2f})": growth
            <= 1.1
        }
    )
    return 0 if growth <= 1.1 else 1


def _await(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


async def _bare(request: Request) -> Response:
    await request.body()
    return Response(b"{}", media_type="application/json")


def main() -> int:
    """Measure, print, and say which bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="a checkout of another version")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--serve", nargs=3)
    parser.add_argument("--generate", nargs=5)
    asked = parser.parse_args()
    if asked.serve:
        party, folder, port = asked.serve
        app = application(os.path.join(folder, "reports.db"), [TASK])
        bare = Starlette(routes=[Route("/bare", _bare, methods=["POST"])])
        serve(bare if party == "bare" else app, listening("127.0.0.1", int(port)))
    elif asked.generate:
        party, each, connections, port, seconds = asked.generate
        load = Load(party, int(each), int(connections))
        print(json.dumps(_generate(load, int(port), float(seconds))))
    elif asked.soak:
        return soak(asked.soak)
    elif asked.before:
        return _compare(asked.before.resolve(), asked.rounds, asked.seconds)
    else:
        return _report(asked.rounds, asked.seconds, asked.json)
    return 0


def _report(rounds: int, seconds: float, file: Path | None) -> int:
    loads = (BARE, SINGLE, BATCH, *OVERLOADS)
    runs = {load: [] for load in loads}
    for _ in range(rounds):
        for load in loads:
            runs[load].append(measure(load, seconds))
            _show(load, runs[load][-1])
    best = {load: _middle(figures) for load, figures in runs.items()}
    # Of runs that followed each other: a machine that is shared has good and bad minutes.
    share = median(
        single["requests"] / bare["requests"]
        for single, bare in zip(runs[SINGLE], runs[BARE], strict=True)
    )
    bars = {
        "one report a request: 6,000 a second": best[SINGLE]["requests"] >= 6000,
        f"one report a request: .65 of the bare route ({share:.2f})": share >= 0.65,
        "one report a request: p99 50 ms": best[SINGLE]["p99"] <= 50,
        "50 a request: 45,000 reports a second": best[BATCH]["reports"] >= 45_000,
        "50 a request: p99 50 ms": best[BATCH]["p99"] <= 50,
    }
    for load in OVERLOADS:
        peak = best[SINGLE if load.each == 1 else BATCH]["reports"]
        name = f"{load.connections} connections of {load.each}"
        bars[f"{name}: half of the peak"] = best[load]["reports"] >= peak / 2
        bars[f"{name}: p99 500 ms, 256 MiB"] = best[load]["p99"] <= 500 and best[load]["MiB"] <= 256
        bars[f"{name}: 200 and 503 alone"] = all(
            set(figures["statuses"]) <= {"200", "503"} for figures in runs[load]
        )
    _say(bars)
    if file:
        file.write_text(json.dumps([load._asdict() | figures for load, figures in best.items()]))
    return 0 if all(bars.values()) else 1


def _compare(before: Path, rounds: int, seconds: float) -> int:
    """Pairs of runs that follow each other, the other version first and last in turn."""
    shares: dict[Load, list[float]] = {SINGLE: [], BATCH: []}
    singles: list[float] = []
    for number in range(rounds):
        for load, found in shares.items():
            pair = {
                tree: measure(load, seconds, tree)
                for tree in ((before, HERE) if number % 2 else (HERE, before))
            }
            for tree in (before, HERE):
                _show(load._replace(party="this" if tree == HERE else "other"), pair[tree])
            found.append(pair[HERE]["requests"] / pair[before]["requests"])
            if load == SINGLE:
                singles.append(pair[HERE]["requests"])
    single, batch, pace = median(shares[SINGLE]), median(shares[BATCH]), median(singles)
    bars = {
        f"one report a request: .7 of the other version ({single:.2f})": single >= 0.7,
        f"one report a request: 8,000 a second ({pace:,.0f})": pace >= 8000,
        f"50 a request: .9 of the other version ({batch:.2f})": batch >= 0.9,
    }
    _say(bars)
    return 0 if all(bars.values()) else 1


def _say(bars: dict[str, bool]) -> None:
    for bar, met in bars.items():
        print(f"{'met  ' if met else 'SHORT'} {bar}")


def _middle(figures: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        key: median(each[key] for each in figures)
        for key in ("requests", "reports", "p50", "p99", "MiB")
    }


def _show(load: Load, figures: dict[str, Any]) -> None:
    print(
        f"{load.party:9} {load.each:3} a request, {load.connections:3} connections: "
        f"{figures['requests']:8,.0f} requests/s {figures['reports']:8,.0f} reports/s, "
        f"p50 {figures['p50']:5.1f} p99 {figures['p99']:5.1f} ms, {figures['MiB']} MiB, "
        f"{figures['statuses']}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
