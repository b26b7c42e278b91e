"""The workflow of a release: linted, with the declared versions, and its steps run here."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
JOBS: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text())["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCRIPT = ROOT / ".ci" / "release"


def release(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [folder / ".ci" / "release", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_workflow_passes_its_linter():
    linter = Path(sys.executable).with_name("zizmor")
    command = [linter, "--offline", "--no-progress", WORKFLOW.parent]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_planted_fault_does_not_pass_the_linter(tmp_path: Path):
    text = WORKFLOW.read_text().replace('"$TAG"', "${{ github.ref_name }}")
    (tmp_path / "release.yml").write_text(text)
    linter = Path(sys.executable).with_name("zizmor")
    command = [linter, "--offline", "--no-progress", tmp_path / "release.yml"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "template-injection" in ran.stdout


def test_actions_are_pinned_to_commits_and_jobs_have_least_permissions():
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", one) for one in used)
    assert yaml.safe_load(WORKFLOW.read_text())["permissions"] == {}
    for job in JOBS.values():
        assert set(job["permissions"].values()) <= {"read", "write"}
        assert job["permissions"].get("contents") != "write"


def test_every_declared_python_is_tested_and_the_lowest_versions():
    matrix = JOBS["test"]["strategy"]["matrix"]
    declared = [one.rpartition(" :: ")[2] for one in PROJECT["classifiers"]]
    assert matrix["python"] == [one for one in declared if re.fullmatch(r"3\.\d+", one)]
    lowest = {"python": matrix["python"][0], "lock": "requirements-lowest.lock"}
    assert matrix["include"] == [lowest]
    assert PROJECT["requires-python"] == f">={lowest['python']}"


def test_steps_are_those_of_the_script_but_publishing():
    known = set(re.findall(r"^(\w+)\)", SCRIPT.read_text(), re.M))
    asked = [step["run"].split() for step in STEPS if "run" in step]
    steps = [words[1] for words in asked if words[0] == ".ci/release"]
    assert sorted(steps) == sorted(known)
    (other,) = [" ".join(words) for words in asked if words[0] != ".ci/release"]
    assert "npm publish" in other
    assert "--provenance" in other


def test_the_lowest_lock_has_the_lowest_versions():
    lock = dict(
        re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements-lowest.lock").read_text(), re.M)
    )
    extras = PROJECT["optional-dependencies"]
    installed = [name for name in extras if name not in ("dev", "lenskit")]
    needs = [*PROJECT["dependencies"], *(need for name in installed for need in extras[name])]
    for need in (each for each in needs if not each.startswith("tacit-device")):
        name, lowest = re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", need).groups()
        # The lowest release that was not withdrawn and has a wheel.
        assert lock[name].split(".")[: lowest.count(".") + 1] == lowest.split("."), need


def test_a_tag_is_the_version_of_all_packages():
    assert release(ROOT, "version", f"v{PROJECT['version']}").returncode == 0
    refused = release(ROOT, "version", "v9.9.9")
    assert refused.returncode == 1
    assert "is not that of the tag v9.9.9" in refused.stderr
    assert (
        "step must be test, version, wheels or npm, got publish" in release(ROOT, "publish").stderr
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is tracked, with the environment and the modules of this checkout."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folder = tmp_path_factory.mktemp("checkout")
    for name in listed.stdout.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)  # with its time, so that make does nothing
    (folder / ".venv").symlink_to(ROOT / ".venv")
    modules = Path("tests/page/node_modules")
    # A copy, because npm empties the folder before it installs.
    shutil.copytree(ROOT / modules, folder / modules, symlinks=True)
    (folder / modules / ".package-lock.json").touch()
    return folder


@pytest.mark.long
def test_wheels_and_npm_packages_are_built(checkout: Path):
    for step in ("wheels", "npm"):
        ran = release(checkout, step)
        assert ran.returncode == 0, ran.stderr
    version = PROJECT["version"]
    built = {path.name for path in (checkout / "dist").iterdir() if path.is_file()}
    wheels = {f"tacit_{name}-{version}" for name in ("device", "recommender", "studies")}
    assert {name for name in built if name.endswith(".whl")} == {
        f"{wheel}-py3-none-any.whl" for wheel in wheels
    }
    packages = {f"tacit-{name}-{version}.tgz" for name in ("consent", "device", "device-shuffled")}
    assert {name for name in built if name.endswith(".tgz")} == packages
    for name in packages:
        with tarfile.open(checkout / "dist" / name) as opened:
            manifest = json.load(opened.extractfile("package/package.json") or pytest.fail(name))
        assert manifest["version"] == version


@pytest.mark.long
@pytest.mark.full
@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-lowest.lock"])
def test_the_default_tests_pass_with_the_versions_of_a_lock(checkout: Path, lock: str):
    ran = release(checkout, "test", lock)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    assert " passed" in ran.stdout
