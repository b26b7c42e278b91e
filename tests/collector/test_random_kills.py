"""Collectors, PostgreSQL, fits and administration are killed at random: nothing is lost."""

import subprocess
import time
from contextlib import suppress
from random import Random

import pytest
from balancer import Balancer
from processes import CLI
from retrying import Clients, nothing_is_lost, promised, stored

pytestmark = pytest.mark.postgres


def killed(command, chance):
    """Start a command, and kill it after up to three seconds unless it has ended."""
    with subprocess.Popen(
        [*CLI, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        with suppress(subprocess.TimeoutExpired):
            running.wait(chance.uniform(0.2, 3))
        running.kill()


@pytest.mark.parametrize(
    "kills", [pytest.param(20, id="20"), pytest.param(200, id="200", marks=pytest.mark.full)]
)
def test_random_kills_lose_nothing(ask, started, postgres, tmp_path, kills):
    task, url = ask(start=int(time.time()) - 1000), postgres.database()
    collectors = [started(task, db=url) for _ in range(2)]
    balancer = Balancer([each.port for each in collectors])
    balancer.wait(2, 20)
    clients, chance = Clients(task, balancer.port, count=2, each=2), Random(kills)
    backup, models = tmp_path / "backup.db", tmp_path / "models"
    commands = [
        ["fit", "--db", url, "--model", "item-mean", "--publish", str(models), "--least", "1",
         "-o", str(tmp_path / "model")],
        ["admin", "backup", "--db", url, "-o", str(backup)],
        ["admin", "prune", "--db", url],
        ["admin", "tombstones", "--db", url, "-o", str(tmp_path / "tombstones.json")],
    ]  # fmt: skip
    for _ in range(kills):
        kind = chance.randrange(4)
        if kind == 0:
            victim = chance.choice(collectors)
            victim.kill()
            time.sleep(chance.uniform(0, 0.5))
            victim.start()
        elif kind == 1:
            postgres.stop("immediate")
            time.sleep(chance.uniform(0, 0.5))
            postgres.start()
        else:
            killed(chance.choice(commands), chance)
    assert balancer.wait(2, 20) < 10
    before = len(clients.acked)
    end = time.monotonic() + 20
    while len(clients.acked) == before:
        assert time.monotonic() < end
        time.sleep(0.05)
    clients.finish()
    balancer.close()
    nothing_is_lost(collectors[0], clients, fewest=kills)
    command = [*CLI, "admin", "backup", "--db", url, "-o", str(backup)]
    subprocess.run(command, check=True)
    wanted, found = promised(clients.acked), stored(str(backup))
    assert {id: found.get(id) for id in wanted} == wanted
