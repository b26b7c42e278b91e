"""Packages that are found as installed ones are, and what pytest must not import here."""

import sys

import pytest

from tacit.readers import synthetic

collect_ignore = ["example"]  # a package of its own, one of whose modules does not load


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package of one module that is found on the path, with entry points by group."""

    def made(name, source, **groups):
        folder = tmp_path / f"site-{name}"
        facts = folder / f"{name}-1.2.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = (f"[tacit.{group}]\n{point}\n" for group, point in groups.items())
        (facts / "entry_points.txt").write_text("".join(lines))
        (folder / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(folder)

    yield made
    for module in [name for name in sys.modules if name.startswith("fake_")]:
        del sys.modules[module]


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "made.csv"
    synthetic(40, 60, 900).to_polars().write_csv(file)
    return file
