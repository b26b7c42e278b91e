"""Rooms of the source, their files and lines, and which room imports which.

    python .ci/structure.py

Exits 1 where modules import each other in a circle, a room imports one above it, a folder holds
more than 14 source files, the median file has more than 150 lines, any has more than 500, or a
Python file has under 60 lines without a reason in `SMALL`.
"""

import ast
import sys
import tomllib
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

import grimp

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tacit"
KINDS = (".py", ".js", ".css")
MOST_FILES, MEDIAN_LINES, MOST_LINES = 14, 150, 500
ENTRY_POINTS = {SOURCE / "__init__.py", SOURCE / "__main__.py"}
FEWEST_LINES, MOST_SMALL = 60, 25
SMALL = {
    "__init__.py": "public interface",
    "__main__.py": "entry point of python -m",
    "audit/attacks/__init__.py": "registry",
    "channels/certificate.py": "the verifier, short enough to be read by anybody",
    "cli/evaluating/demo.py": "one command",
    "cli/evaluating/download.py": "one command",
    "cli/evaluating/execution.py": "five importers",
    "cli/outputs.py": "keeps cli/options.py below its limit",
    "collection/public_hash.py": "four importers in two rooms",
    "collector/ingest/enrolment.py": "four importers in three rooms",
    "collector/storage/addresses.py": "imports PostgreSQL's driver on use",
    "device/storage/upgrade.py": "one upgrade",
    "experiments/defaults.py": "six importers in two rooms",
    "labels/on_request.py": "imports attacks on use",
    "readers/formats/headerless.py": "three formats of one kind",
    "readers/formats/sparse.py": "one format",
    "learners/settings.py": "five importers in two rooms",
    "metrics/separation.py": "two importers",
    "models/lists/__init__.py": "registry",
    "models/rounded.py": "six importers",
    "readers/__init__.py": "public interface",
    "readers/decoding_worker.py": "a program of its own",
    "testing/__init__.py": "public interface",
    "training/person/noisy_counts.py": "two importers in two rooms",
}
"""Python files under 60 lines, and why each is a file of its own.

Package markers, which hold a docstring alone, need no reason.
"""


def files() -> list[Path]:
    """Every source file."""
    return sorted(path for path in SOURCE.rglob("*") if path.suffix in KINDS)


def lines(path: Path) -> int:
    """Lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def is_marker(path: Path) -> bool:
    """Whether a file marks a package and holds a docstring alone."""
    return path.name == "__init__.py" and len(ast.parse(path.read_text("utf-8")).body) == 1


def small_files(sizes: dict[Path, int]) -> list[str]:
    """Python files under 60 lines that are no package markers, by their paths in the package."""
    return [
        path.relative_to(SOURCE).as_posix()
        for path, size in sizes.items()
        if path.suffix == ".py" and size < FEWEST_LINES and not is_marker(path)
    ]


def room(module: str) -> str:
    """The room of a module: the name that follows the package's."""
    return module.split(".")[1] if "." in module else module


def layers() -> list[str]:
    """Rooms from top to bottom, as the import contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return next(contract["layers"] for contract in contracts if contract["type"] == "layers")


def imports() -> dict[str, set[str]]:
    """What each module imports, of this package."""
    graph = grimp.build_graph("tacit")
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def arrows(imported: dict[str, set[str]]) -> Counter[tuple[str, str]]:
    """How many imports lead from one room to another."""
    pairs = ((room(one), room(other)) for one, others in imported.items() for other in others)
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def faults(imported: dict[str, set[str]]) -> list[str]:
    """What is not as it should be, one sentence each."""
    found: list[str] = []
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        found.append(f"These import each other in a circle: {' -> '.join(error.args[1])}.")
    height = {name: -depth for depth, name in enumerate(layers())}
    for one, other in arrows(imported):
        if one in height and height[one] < height.get(other, -len(height)):
            found.append(f"{one} imports {other}, which is above it.")
    counted = (path.parent for path in files() if path not in ENTRY_POINTS)
    for folder, count in Counter(counted).items():
        if count > MOST_FILES:
            found.append(f"{folder.relative_to(ROOT)} holds {count} files, above {MOST_FILES}.")
    sizes = {path: lines(path) for path in files()}
    if median(sizes.values()) > MEDIAN_LINES:
        found.append(f"The median file has {median(sizes.values()):.0f} lines.")
    small = set(small_files(sizes))
    found += [
        f"{path} has fewer than {FEWEST_LINES} lines: merge it, or add a reason to SMALL."
        for path in sorted(small - SMALL.keys())
    ]
    found += [f"{path} of SMALL is not a small file." for path in sorted(SMALL.keys() - small)]
    if len(small) > MOST_SMALL:
        found.append(f"{len(small)} files have fewer than {FEWEST_LINES} lines.")
    too_long = [path for path, size in sizes.items() if size > MOST_LINES]
    return found + [f"{path.relative_to(ROOT)} has {sizes[path]} lines." for path in too_long]


def main() -> int:
    """Print; the exit status."""
    imported = imports()
    of_room = arrows(imported)
    order = [name for name in layers() if (SOURCE / name).is_dir()]
    for name in [*order, "page"]:
        mine = [path for path in files() if path.is_relative_to(SOURCE / name)]
        below = [other for other in order if of_room[name, other]]
        print(f"{name:<12} {len(mine):>3} files {sum(map(lines, mine)):>6,} lines", end="")
        print(f"   -> {', '.join(below)}" if below else "")
        for folder in sorted({path.parent for path in mine if path.parent != SOURCE / name}):
            inside = [path for path in mine if path.parent == folder]
            print(f"  {folder.relative_to(SOURCE / name)!s:<22} {len(inside):>3} files")
    sizes = [lines(path) for path in files()]
    print(f"\n{len(sizes)} files, median {median(sizes):.0f} lines, largest {max(sizes)}")
    markers = sum(map(is_marker, files()))
    print(f"{len(SMALL)} Python files under {FEWEST_LINES} lines, and {markers} package markers")
    found = faults(imported)
    print("\n".join(found) if found else "No circle, no arrow up.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
