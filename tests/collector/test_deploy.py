"""The files of `deploy/`: the image's steps run, units are valid, commands have these options."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import typer.main
import yaml
from processes import free_port

from tacit.cli import app
from tacit.device.documents import LONGEST_MODEL

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*/*.service")) + sorted(DEPLOY.glob("*/*.timer"))
DOCKERFILE = (DEPLOY / "docker" / "Dockerfile").read_text()


def instructions():
    """Instructions of the Dockerfile by stage: (name, arguments)."""
    lines = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
    stages = []
    for line in lines:
        name, _, arguments = line.partition(" ")
        if name == "FROM":
            stages.append([])
        stages[-1].append((name, arguments))
    return stages


def compose(folder="docker"):
    return yaml.safe_load((DEPLOY / folder / "compose.yaml").read_text())["services"]


def kubernetes():
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "tacit.yaml").read_text()))


def containers():
    for document in kubernetes():
        spec = document.get("spec", {})
        if document["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        yield from spec.get("template", {}).get("spec", {}).get("containers", [])


def commands():
    """Every command line of Tacit in these files, as words without `tacit`."""
    for name, arguments in instructions()[-1]:
        if name == "CMD":
            yield json.loads(arguments)
    for unit in UNITS:
        for line in re.findall(r"^ExecStart=\S+/tacit (.*)$", unit.read_text(), re.MULTILINE):
            yield shlex.split(line)
    for container in containers():
        yield container["args"]
    for name, service in compose().items():
        if name.startswith("collector"):
            yield service["command"]
    yield compose("shuffler")["shuffler"]["command"]
    (loop,) = compose()["fit"]["command"]
    yield shlex.split(loop.split("tacit ")[1].split(";")[0])


def test_commands_have_these_options():
    checked = 0
    for words in commands():
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            command, words = command.commands[words[0]], words[1:]
        known = {option for each in command.params for option in each.opts}
        assert {word for word in words if word.startswith("-")} <= known
        checked += 1
    assert checked == 12


def test_dockerfile_keeps_the_rules_of_hadolint():
    """By hand, since hadolint is not in Debian."""
    build, final = instructions()
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+( AS build)?", stage[0][1])
               for stage in (build, final))  # fmt: skip
    names = [name for name, _ in final]
    assert names.index("USER") > names.index("RUN")
    assert dict(final)["USER"] == "10001"
    assert not {"ADD", "MAINTAINER"} & {name for name, _ in build + final}
    for name, arguments in build + final:
        if name in ("CMD", "ENTRYPOINT"):
            assert isinstance(json.loads(arguments), list)
        if name == "RUN" and "pip install" in arguments:
            assert "--no-cache-dir" in arguments
            assert "--require-hashes" in arguments or "--no-deps" in arguments
        if name == "WORKDIR":
            assert arguments.startswith("/")
    assert "latest" not in DOCKERFILE


def test_containers_have_no_privileges():
    services = [each for name, each in compose().items() if name not in ("db", "proxy")]
    assert len(services) == 3
    services.append(compose("shuffler")["shuffler"])
    for service in services:
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    found = list(containers())
    assert [each["name"] for each in found] == ["collector", "fit"]
    for container in found:
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"]
        assert not security["allowPrivilegeEscalation"]
    assert found[0]["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert found[0]["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_volumes_are_writable():
    """The image has the folder of every volume of its compose files, which its user owns."""
    run = " ".join(arguments for name, arguments in instructions()[-1] if name == "RUN")
    owned = set(re.findall(r"(?:--home-dir|install -d -o tacit -g tacit) (\S+)", run))
    for folder, count in (("docker", 3), ("shuffler", 1)):
        mounts = [
            mount.split(":")
            for service in compose(folder).values()
            for mount in service["volumes"]
            if service["image"] == "tacit"
        ]
        volumes = [mounted[1] for mounted in mounts if not mounted[0].startswith(".")]
        assert len(volumes) == count
        assert set(volumes) <= owned


@pytest.mark.parametrize("file", sorted(DEPLOY.glob("**/Caddyfile")))
def test_large_downloads_are_not_cut(file):
    """At 4 Mbit/s, the largest model arrives within Caddy's time limit of a response."""
    ((number, unit),) = re.findall(r"^\t+write (\d+)([smh])$", file.read_text(), re.MULTILINE)
    assert int(number) * {"s": 1, "m": 60, "h": 3600}[unit] * 4e6 >= 8 * LONGEST_MODEL


def test_proxy_obeys_readiness():
    assert "health_uri /readyz" in (DEPLOY / "docker" / "Caddyfile").read_text()


@pytest.mark.long
@pytest.mark.parametrize("folder", ["docker", "shuffler"])
def test_caddy_accepts_its_file(folder):
    caddy = shutil.which("caddy")
    assert caddy, "install caddy"
    file = DEPLOY / folder / "Caddyfile"
    command = [caddy, "adapt", "--config", file, "--adapter", "caddyfile"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.long
def test_units_are_valid(tmp_path):
    """With the program of this environment in place of /opt/tacit."""
    assert shutil.which("systemd-analyze"), "install systemd"
    for unit in UNITS:
        text = unit.read_text()
        if unit.suffix == ".timer" or unit.stem in ("tacit-collector", "tacit-shuffler"):
            assert "[Install]" in text
        (tmp_path / unit.name).write_text(
            text.replace("/opt/tacit/bin", str(Path(sys.executable).parent))
        )
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert not [line for line in run.stderr.splitlines() if "tacit-" in line]


@pytest.mark.long
def test_steps_of_the_image_run_in_a_clean_directory(ask, tmp_path):
    """The same commands, with other folders; then the image's command answers `/readyz`."""
    source, installed, home = tmp_path / "src", tmp_path / "tacit", tmp_path / "home"
    ignored = (ROOT / ".dockerignore").read_text().split()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        if name and name.split("/")[0] not in ignored and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    steps = [arguments for name, arguments in instructions()[0] if name == "RUN"]
    assert len(steps) == 3
    for step in steps:
        step = step.replace("/opt/tacit", str(installed))
        step = re.sub(r"^python ", f"{sys.executable} ", step)
        run = subprocess.run(
            step, shell=True, cwd=source, env=clean, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
    shutil.rmtree(source)
    home.mkdir()
    (home / "task.json").write_bytes(ask(start=int(time.time()) - 100).document)
    (command,) = [json.loads(given) for name, given in instructions()[1] if name == "CMD"]
    port = free_port()
    words = [str(installed / "bin" / "tacit"), *command, "--port", str(port)]
    with subprocess.Popen(words, cwd=home, env=clean, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert _answers(f"http://127.0.0.1:{port}/readyz") == 200
        finally:
            running.terminate()
        lines = running.stderr.read().splitlines()
    events = [json.loads(line)["event"] for line in lines if line.startswith("{")]
    assert [event for event in events if event in ("started", "stopped")] == ["started", "stopped"]


def _answers(url):
    for _ in range(600):
        try:
            with urlopen(url, timeout=5) as response:
                return response.status
        except URLError:
            time.sleep(0.1)
    raise AssertionError("it does not answer")
