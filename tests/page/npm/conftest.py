"""The package, packed and installed once."""

from pathlib import Path

import packed_device
import pytest


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed_device.packed(tmp_path_factory.mktemp("packed"))


@pytest.fixture(scope="session")
def installed(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and the device's tests, and nothing of the repository's device."""
    folder = tmp_path_factory.mktemp("site") / "page"
    folder.mkdir()
    packed_device.install(tarball, folder)
    packed_device.copy_tests(folder)
    return folder
