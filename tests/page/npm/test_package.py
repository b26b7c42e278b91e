"""What is in the package: its size, its types, and what it says of itself."""

import json
import re
import tarfile
import tomllib
from pathlib import Path

import packed_device
import pytest

NPM = packed_device.ROOT / "npm"
DEVICE = packed_device.ROOT / "src" / "tacit" / "page" / "device"
MOST_BYTES = 50_000
PARTS = ("", "shuffled")
EACH = pytest.mark.parametrize(
    ("name", "part"), list(zip(packed_device.PACKAGES, PARTS, strict=True))
)
"""Every package, with the folder of its index and of its texts."""


def exported(part: str) -> set[str]:
    """What a package exports, by its name there; types apart."""
    index = (DEVICE / part / "index.js").read_text()
    lists = re.findall(r"^export \{ (.*) \} from", index, re.M)
    assert len(lists) == len(re.findall("^export", index, re.M))
    return {name.split(" as ")[-1] for names in lists for name in names.split(", ")}


@EACH
def test_it_says_what_it_is_and_can_be_published(name: str, part: str):
    said = json.loads((NPM / part / "package.json").read_text())
    project = tomllib.loads((packed_device.ROOT / "pyproject.toml").read_text())["project"]
    assert said["name"] == name
    assert said["version"] == project["version"]
    assert said["license"] == project["license"]
    assert said["type"] == "module"
    assert not {"private", "dependencies", "peerDependencies", "scripts"} & said.keys()


@EACH
def test_its_readme_says_what_each_name_is(name: str, part: str):
    readme = (NPM / part / "README.md").read_text()
    assert name in readme
    assert {export for export in exported(part) if f"`{export}" not in readme} == set()


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


def names_in(tarball: Path) -> set[str]:
    with tarfile.open(tarball) as opened:
        return {name.removeprefix("package/") for name in opened.getnames()}


@pytest.mark.long
def test_they_are_small_and_hold_the_device_alone(tarballs: list[Path]):
    modules = {str(path.relative_to(DEVICE)) for path in DEVICE.rglob("*.js")}
    shuffled = {name for name in modules if name.startswith("shuffled/")}
    packed = []
    for tarball in tarballs:
        assert tarball.stat().st_size < MOST_BYTES
        names = names_in(tarball)
        packed.append({name for name in names if name.endswith(".js")})
        typed = {name.replace(".js", ".d.ts") for name in modules}
        assert names - packed[-1] - typed == {"LICENSE", "README.md", "package.json"}
    assert packed[0] == modules - shuffled
    assert shuffled < packed[1] < modules


@pytest.mark.long
@EACH
def test_it_is_installed_alone_and_loads_by_its_name(installed: Path, name: str, part: str):
    folders = sorted(path.name for path in (installed / "node_modules").glob("[!.]*"))
    assert folders == list(packed_device.PACKAGES)
    load = f"import * as it from '{name}'; console.log(Object.keys(it).join())"
    said = packed_device.node("--input-type=module", "--eval", load, cwd=installed)
    assert set(said.strip().split(",")) == exported(part)


@pytest.mark.long
@pytest.mark.parametrize("resolution", ["bundler", "nodenext"])
def test_its_types_resolve(installed: Path, resolution: str):
    (installed / "consumer.mts").write_text(Path(__file__).with_name("consumer.ts").read_text())
    examples = []
    for part in PARTS:
        readme = (NPM / part / "README.md").read_text()
        (example,) = re.findall(r"```js\n(.*?)```", readme, re.DOTALL)
        examples.append(f"readme{part}.mts")
        (installed / examples[-1]).write_text(example)
    module = "esnext" if resolution == "bundler" else resolution
    packed_device.node(
        packed_device.MODULES / "typescript" / "bin" / "tsc",
        *("--ignoreConfig", "--noEmit", "--strict", "--exactOptionalPropertyTypes"),
        *("--target", "es2023", "--lib", "es2024,dom,dom.iterable", "--types", ""),
        *("--module", module, "--moduleResolution", resolution, "consumer.mts"),
        *examples,
        cwd=installed,
    )
