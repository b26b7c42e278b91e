"""The wheels: no file in two of them, a device on the standard library alone."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

from tacit.cli import main, plugins

ROOT = Path(__file__).parent.parent
OURS = ROOT / "src" / "tacit"
LIFE = """
import sys
from contextlib import closing
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import scenario_device as played

class Patch:
    def setattr(self, name, value):
        module, _, attribute = name.rpartition(".")
        __import__(module)
        setattr(sys.modules[module], attribute, value)

for number, scenario in enumerate(played.HELD["scenarios"]):
    played.fix(Patch(), played.HELD["secrets"])
    given = {key: scenario[key] for key in ("store", "now") if key in scenario}
    with closing(played.Life(Path(sys.argv[2]) / f"{number}.db", **given)) as life:
        sent = [played.lived(life, step) for step in scenario["steps"]]
        bodies = [body for _, body in life.provider.sent]
        assert bodies == played.HELD["bodies"].get(scenario["name"], []), scenario["name"]
print(number + 1, "numpy" in sys.modules, sys.modules["tacit"].__file__)
"""


def declared(folder):
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())


def built(folder, into):
    """The wheel of a folder, built without a network."""
    asked = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    subprocess.run(asked, cwd=folder, check=True, capture_output=True)
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheels of tacit-device, tacit-recommender and tacit-studies, built from a copy
    because a build leaves files."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("src", "tacit-device", "tacit-studies", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, copy / name, ignore=ignored) if source.is_dir() else shutil.copy(
            source, copy / name
        )
    into = tmp_path_factory.mktemp("wheels")
    return (
        built(copy / "tacit-device", into / "device"),
        built(copy, into / "whole"),
        built(copy / "tacit-studies", into / "studies"),
    )


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An interpreter that has pip and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


def files(wheel):
    return {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("tacit/")}


def pip(python, *asked):
    command = [str(python), "-I", "-m", "pip", *map(str, asked)]
    quiet = ["--disable-pip-version-check", "--quiet"]
    subprocess.run([*command, *quiet], check=True, capture_output=True)


def said(python, code, *arguments):
    command = [str(python), "-I", "-c", code, *map(str, arguments)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout.strip(), found.stderr.strip().splitlines()[-1:]


def there(python):
    (folder,) = (Path(python).parents[1] / "lib").glob("python*/site-packages/tacit")
    inside = {str(path.relative_to(folder.parent)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in inside if "__pycache__" not in name}


def test_one_version_and_what_a_device_needs_is_what_the_rule_of_imports_says():
    device, whole = declared("tacit-device"), declared(".")
    assert device["project"]["version"] == whole["project"]["version"]
    assert f"tacit-device=={device['project']['version']}" in whole["project"]["dependencies"]
    assert device["project"]["dependencies"] == []
    studies = declared("tacit-studies")["project"]
    assert studies["dependencies"] == [f"tacit-recommender=={studies['version']}"]
    assert studies["version"] == whole["project"]["version"]
    (rule,) = (
        contract
        for contract in whole["tool"]["importlinter"]["contracts"]
        if contract["type"] == "forbidden" and "tacit.device" in contract["source_modules"]
    )
    included = device["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    modules = {
        source.removeprefix("../src/").removesuffix(".py").replace("/", ".")
        for source in included
        if source.startswith("../src/") and not source.endswith(("__init__.py", ".pyi", "py.typed"))
    }
    assert modules == set(rule["source_modules"])


def test_no_module_of_a_device_imports_what_is_not_there():
    """Read off the files, so that an import inside a function counts, too."""
    standard = sys.stdlib_module_names | {"tacit"}
    for path in [OURS / "__init__.py", *OURS.glob("*/**/*.py")]:
        if path.parent.name not in ("tacit", "channels", "device", "privacy", "wire"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            assert {name.split(".")[0] for name in names} <= standard, path


@pytest.mark.long
def test_no_file_is_in_both_and_none_in_neither(wheels):
    device, whole = map(files, wheels[:2])
    assert not files(wheels[2])
    assert not device & whole
    every = {str(path.relative_to(OURS.parent)) for path in OURS.rglob("*") if path.is_file()}
    assert device | whole == {name for name in every if "__pycache__" not in name}
    assert wheels[0].stat().st_size < 1_000_000


@pytest.mark.long
def test_a_device_lives_on_the_standard_library_and_either_goes_without_the_other(
    wheels, environment, tmp_path
):
    alone, both = tmp_path / "alone", tmp_path / "both"
    alone.mkdir()
    both.mkdir()
    pip(environment, "install", "--no-index", wheels[0])
    importable = ROOT / "tests" / "importable"
    status, printed, error = said(environment, LIFE, importable, alone)
    assert status == 0, error
    scenarios, numpy, where = printed.split(" ", 2)
    assert int(scenarios) > 10
    assert numpy == "False"
    assert "site-packages" in where
    assert said(environment, "import tacit; print(tacit.__version__)")[1] == "0.1.0"
    for code, refusal in (
        ("from tacit import fit", "tacit.fit is not part of tacit-device; also install tacit"),
        (
            "from tacit import compile_channel as c; c('optimal', epsilon=1, scale='1:5:1')",
            "The channel optimal requires tacit.optimal_channel, which is not installed",
        ),
    ):
        status, _, (last,) = said(environment, code)
        assert status == 1
        assert refusal in last

    pip(environment, "install", "--no-index", "--no-deps", wheels[1])
    assert there(environment) == files(wheels[0]) | files(wheels[1])
    pip(environment, "uninstall", "-y", "tacit-recommender")
    assert there(environment) == files(wheels[0])
    assert said(environment, LIFE, importable, both)[0] == 0
    pip(environment, "install", "--no-index", "--no-deps", wheels[1])
    pip(environment, "uninstall", "-y", "tacit-device")
    assert there(environment) == files(wheels[1])


@pytest.mark.long
def test_the_example_of_the_front_page_runs_from_wheels_alone(wheels, tmp_path):
    """The install line of README with wheels in place of folders, outside of the checkout."""
    python = tmp_path / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    device, whole, _ = wheels
    pip(python, "install", device, whole)
    page = (ROOT / "README.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    ran = subprocess.run(
        [python, "-I", "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    promise, *items = ran.stdout.splitlines()
    assert promise.startswith("Epsilon = 1 per value, trusting nobody")
    assert len(items) == 5
    assert said(python, "import tacit; print(tacit.__file__)")[1].startswith(str(tmp_path))
    subprocess.run([tmp_path / "bin" / "tacit", "list", "models"], check=True, capture_output=True)


def test_the_command_of_a_package_that_is_missing_is_refused_with_its_name(monkeypatch, capsys):
    monkeypatch.setattr(plugins, "_commands", lambda: EntryPoints())
    with pytest.raises(SystemExit):
        main(["paper", "zheng"])
    assert "paper is part of tacit-studies; install that package." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["no-such-command"])
    assert "No such command" in capsys.readouterr().err
