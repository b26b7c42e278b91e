"""The package of the consent element: its size, its types, and that importing it has no effect."""

import gzip
import json
import re
import tarfile
from pathlib import Path

import packed_device
import pytest

PACKAGE = packed_device.ROOT / "npm" / "consent"
VIEW = packed_device.ROOT / "src" / "tacit" / "page" / "view"
MOST_BYTES = 12_000
"""Of the element in one file, made small and compressed."""
READ_OR_FAIL = """
const names = ["caches", "crypto", "customElements", "document", "fetch", "HTMLElement",
  "indexedDB", "localStorage", "location", "navigator", "self", "window"];
for (const name of names)
  Object.defineProperty(globalThis, name, { get: () => { throw new Error(`${name} is read`); } });
const before = Object.getOwnPropertyNames(globalThis).join();
const [device, consent] = await Promise.all([import("tacit-device"), import("tacit-consent")]);
if (Object.getOwnPropertyNames(globalThis).join() !== before) throw new Error("a global is new");
for (const name of names) {
  try { globalThis[name]; } catch { continue; }
  throw new Error(`${name} can be read`);
}
console.log(typeof device.Client, typeof consent.defineConsent);
"""
"""Imports both packages where reading a global of browsers throws an error."""
CONSUMER = """
import { Client, Collector, fetchTask, openStore } from "tacit-device";
import { defineConsent } from "tacit-consent";
import type { ConsentElement, Terms } from "tacit-consent";
const collector = new Collector();
const client = new Client({ store: await openStore(), collector });
const task = await fetchTask(collector);
const consent: ConsentElement = document.createElement("tacit-consent");
consent.task = task;
consent.due = await client.countDue(task);
consent.spent = 1_000_000_000n;
consent.addEventListener("tacit-accept", ({ detail }) => void client.accept(task, detail));
const terms: Terms = { mostEpsilon: "1", lifetime: "50" };
defineConsent();
// @ts-expect-error: an epsilon is a decimal in a string
consent.lifetime = 50;
// @ts-expect-error: what is spent is in nano-epsilon
consent.spent = "1";
// @ts-expect-error: a task is not its address
consent.task = task.address;
// @ts-expect-error: terms have two limits
export const half: Terms = { mostEpsilon: terms.mostEpsilon };
"""


def test_it_belongs_to_the_device_of_its_version():
    consent = json.loads((PACKAGE / "package.json").read_text())
    device = json.loads((packed_device.ROOT / "npm" / "package.json").read_text())
    assert consent["peerDependencies"] == {device["name"]: device["version"]}
    same = ("version", "license", "author", "type", "sideEffects")
    assert [consent[name] for name in same] == [device[name] for name in same]
    assert not {"private", "dependencies", "scripts"} & consent.keys()


def test_its_readme_names_all_parts_slots_and_attributes():
    readme = (PACKAGE / "README.md").read_text()
    code = "".join(path.read_text() for path in sorted((VIEW / "consent").glob("*.js")))
    parts = set(re.findall(r'part: "(\w+)"', code))
    slots = set(re.findall(r'"slot", \{ name: "(\w+)"', code))
    attributes = set(re.findall(r'Attribute\("([\w-]+)"\)', code))
    assert (len(parts), len(slots), len(attributes)) == (10, 2, 3)
    assert {name for name in parts | slots | attributes if f"`{name}`" not in readme} == set()


@pytest.mark.long
def test_it_is_small_compressed(consent_tarball: Path, tmp_path: Path):
    with tarfile.open(consent_tarball) as opened:
        names = {name.removeprefix("package/") for name in opened.getnames()}
    assert names == {"LICENSE", "README.md", "index.d.ts", "index.js", "package.json"}
    small = tmp_path / "small.js"
    packed_device.bundle(VIEW / "consent" / "element.js", small)
    assert len(gzip.compress(small.read_bytes(), 9)) <= MOST_BYTES


@pytest.mark.long
def test_importing_both_packages_reads_no_global(both: Path):
    said = packed_device.node("--input-type=module", "--eval", READ_OR_FAIL, cwd=both)
    assert said.strip() == "function function"


@pytest.mark.long
def test_its_types_resolve(both: Path):
    (example,) = re.findall(r"```js\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    (both / "consumer.mts").write_text(CONSUMER)
    (both / "readme.mts").write_text(example)
    packed_device.node(
        packed_device.MODULES / "typescript" / "bin" / "tsc",
        *("--ignoreConfig", "--noEmit", "--strict", "--exactOptionalPropertyTypes"),
        *("--target", "es2023", "--lib", "es2024,dom,dom.iterable", "--types", ""),
        *("--module", "nodenext", "--moduleResolution", "nodenext", "consumer.mts", "readme.mts"),
        cwd=both,
    )
