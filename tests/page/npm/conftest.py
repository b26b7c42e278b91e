"""The packages, packed and installed once."""

from pathlib import Path

import packed_device
import pytest


@pytest.fixture(scope="session")
def tarballs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return packed_device.packed(tmp_path_factory.mktemp("packed"))


@pytest.fixture(scope="session")
def consent_tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (tarball,) = packed_device.packed(tmp_path_factory.mktemp("packed"), "npm/consent/pack.js")
    return tarball


@pytest.fixture(scope="session")
def both(
    tarballs: list[Path], consent_tarball: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with the device's package and the consent element's."""
    folder = tmp_path_factory.mktemp("both")
    packed_device.install(folder, tarballs[0], consent_tarball)
    return folder


@pytest.fixture(scope="session")
def installed(tarballs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages and the device's tests, and nothing of the repository's device."""
    folder = tmp_path_factory.mktemp("site") / "page"
    folder.mkdir()
    packed_device.install(folder, *tarballs)
    packed_device.copy_tests(folder)
    return folder
