"""One environment per peer, made once: peers disagree on what they need beside them."""

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

FOLDER = Path(__file__).parent / ".envs"
DECLARED = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
OURS = [need for need in DECLARED["dependencies"] if not need.startswith("tacit-device")]
"""What Tacit needs to run from its source beside a peer."""
REQUIREMENTS = {
    # One release of torch: where its CPU build is at hand (PIP_FIND_LINKS, or an index in pip's own
    # settings), pip takes that, which has a quarter of the size. The rest is for tests/lenskit.
    "lenskit": ["lenskit==2025.8.1", "torch==2.13.0", "hypothesis", "pytest", *OURS],
    "cmfrec": ["cmfrec==3.5.1.post14", "threadpoolctl"],  # it imports it and does not say so
    "implicit": ["implicit==0.7.3"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn<1.6"],  # it imports a name that 1.6 lost
    "fancyimpute": ["fancyimpute==0.7.0", "scikit-learn<1.8"],  # 1.8 lost an argument it passes
    "myfm": ["myfm==0.4.0"],
    "sparse_dot_topn": ["sparse-dot-topn==1.2.0"],
    "surprise": ["scikit-surprise==1.1.5"],  # compiled on installing: it needs a C compiler
}


def interpreter(peer: str) -> Path:
    """The peer's own Python, with the peer installed. Raises `CalledProcessError` otherwise."""
    place, wanted = FOLDER / peer, "\n".join(REQUIREMENTS[peer])
    python, ready = place / "bin" / "python", place / "ready"
    if not ready.exists() or ready.read_text() != wanted:
        print(f"Installing {peer} under {place}", file=sys.stderr)
        venv.create(place, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *REQUIREMENTS[peer]], check=True, stdout=sys.stderr)
        ready.write_text(wanted)
    return python
