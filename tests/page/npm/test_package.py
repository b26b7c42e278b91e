"""What is in the package: its size, its types, and what it says of itself."""

import json
import re
import tarfile
import tomllib
from pathlib import Path

import packed_device
import pytest

PACKAGE = packed_device.ROOT / "npm"
DEVICE = packed_device.ROOT / "src" / "tacit" / "page" / "device"
MOST_BYTES = 50_000


def exported() -> set[str]:
    """What the package exports, by its name there; types apart."""
    index = (DEVICE / "index.js").read_text()
    lists = re.findall(r"^export \{ (.*) \} from", index, re.M)
    assert len(lists) == len(re.findall("^export", index, re.M))
    return {name.split(" as ")[-1] for names in lists for name in names.split(", ")}


def test_it_says_what_it_is_and_can_be_published():
    said = json.loads((PACKAGE / "package.json").read_text())
    project = tomllib.loads((packed_device.ROOT / "pyproject.toml").read_text())["project"]
    assert said["name"] == "tacit-device"
    assert said["version"] == project["version"]
    assert said["license"] == project["license"]
    assert said["type"] == "module"
    assert not {"private", "dependencies", "peerDependencies", "scripts"} & said.keys()


def test_its_readme_says_what_each_name_is():
    readme = (PACKAGE / "README.md").read_text()
    assert {name for name in exported() if f"`{name}" not in readme} == set()


@pytest.mark.parametrize("name", ["page.js", "worker.js"])
def test_the_examples_are_short(name):
    lines = (packed_device.ROOT / "examples" / "web" / name).read_text().splitlines()
    code = [
        each for each in lines if each and not re.match(r"/\*\*|import |\}|async function", each)
    ]
    assert len(code) <= 10


@pytest.mark.parametrize("name", ["page.js", "worker.js"])
def test_the_examples_are_in_the_documentation(name):
    page = (packed_device.ROOT / "docs" / "how-to" / "page.md").read_text()
    assert (packed_device.ROOT / "examples" / "web" / name).read_text() in page


@pytest.mark.long
def test_it_is_small_and_holds_the_device_alone(tarball: Path):
    assert tarball.stat().st_size < MOST_BYTES
    with tarfile.open(tarball) as opened:
        names = {name.removeprefix("package/") for name in opened.getnames()}
    modules = {str(path.relative_to(DEVICE)) for path in DEVICE.rglob("*.js")}
    modules = {name for name in modules if not name.startswith("shuffled/")}
    assert {name for name in names if name.endswith(".js")} == modules
    others = {name for name in names if not name.endswith(".js")}
    typed = {name.replace(".js", ".d.ts") for name in modules}
    assert others - typed == {"LICENSE", "README.md", "package.json"}


@pytest.mark.long
def test_it_is_installed_alone_and_loads_by_its_name(installed: Path):
    assert [path.name for path in (installed / "node_modules").glob("[!.]*")] == ["tacit-device"]
    load = "import * as it from 'tacit-device'; console.log(Object.keys(it).join())"
    said = packed_device.node("--input-type=module", "--eval", load, cwd=installed)
    assert set(said.strip().split(",")) == exported()


@pytest.mark.long
@pytest.mark.parametrize("resolution", ["bundler", "nodenext"])
def test_its_types_resolve(installed: Path, resolution: str):
    (installed / "consumer.mts").write_text(Path(__file__).with_name("consumer.ts").read_text())
    (example,) = re.findall(r"```js\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    (installed / "readme.mts").write_text(example)
    module = "esnext" if resolution == "bundler" else resolution
    packed_device.node(
        packed_device.MODULES / "typescript" / "bin" / "tsc",
        *("--ignoreConfig", "--noEmit", "--strict", "--exactOptionalPropertyTypes"),
        *("--target", "es2023", "--lib", "es2024,dom,dom.iterable", "--types", ""),
        *("--module", module, "--moduleResolution", resolution, "consumer.mts", "readme.mts"),
        cwd=installed,
    )
