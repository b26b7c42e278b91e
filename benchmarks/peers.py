"""Speed and accuracy beside the peers, each in an environment of its own, in one run.

    python benchmarks/peers.py [noise] [als] [topk] [accuracy] [--data RATINGS] [--json FILE]

Environments and data are made under benchmarks/ on first use. CPU seconds and ratios count; walls
are noisy on a shared machine. `--data` (any file Tacit reads) is for the accuracy rows.
"""

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ENVIRONMENTS = {
    "lenskit": ["lenskit==2025.8.1", "pandas"],
    "cmfrec": ["cmfrec==3.5.1.post14", "threadpoolctl", "pandas"],
    "implicit": ["implicit==0.7.3"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn<1.6", "numpy<2"],
    "myfm": ["myfm==0.4.0"],
}
Figures = list[dict[str, object]]


def python(peer: str) -> str:
    """The interpreter of a peer's environment, made when it is not there."""
    folder = HERE / ".envs" / peer
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
        subprocess.run(
            [folder / "bin" / "python", "-m", "pip", "install", "-q", *ENVIRONMENTS[peer]],
            check=True,
        )
    return str(folder / "bin" / "python")


def beside(script: str, peers: list[str], *arguments: str) -> Figures:
    """Run ours, then each peer, and collect what they say."""
    figures: Figures = []
    for who in ["ours", *peers]:
        program = sys.executable if who == "ours" else python(who)
        done = subprocess.run(
            [program, str(HERE / script), who, *arguments], capture_output=True, text=True
        )
        if done.returncode:
            print(f"{script} {who} failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        line = json.loads(done.stdout.strip().splitlines()[-1])
        figures.append({"benchmark": script.removesuffix(".py"), **line})
        print(json.dumps(figures[-1]), flush=True)
    return figures


def made_up(name: str, people: int, films: int, ratings: int) -> str:
    """A synthetic set of a known shape, as a file that every environment can read."""
    path = HERE / ".data" / f"{name}.npz"
    if not path.exists():
        from tacit.readers import synthetic

        made = synthetic(people, films, ratings, "0.5:5:0.5")
        path.parent.mkdir(exist_ok=True)
        np.savez(path, users=made.users, items=made.items, values=made.values)
    return str(path)


def splits(data: str, seeds: int) -> list[str]:
    """The splits that `tacit compare --test-share 0.1` makes, as files."""
    from tacit.readers import read

    ratings, paths = read(data), []
    for seed in range(seeds):
        path = HERE / ".data" / f"split-{seed}.npz"
        path.parent.mkdir(exist_ok=True)
        held = np.random.default_rng(seed).random(len(ratings)) < 0.1
        np.savez(path, users=ratings.users, items=ratings.items, values=ratings.values, held=held)
        paths.append(str(path))
    return paths


def main() -> None:
    """Run what was asked for, everything by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", default=["noise", "als", "topk"])
    parser.add_argument("--data")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json")
    asked = parser.parse_args()
    figures: Figures = []
    if "noise" in asked.which:
        figures += beside("noise.py", ["diffprivlib"])
    if "als" in asked.which:
        figures += beside(
            "als.py", ["lenskit", "cmfrec"], made_up("1m", 6040, 3706, 1_000_209), "10"
        )
        large = made_up("20m", 138_493, 26_744, 20_000_263)
        figures += beside("als.py", ["lenskit", "cmfrec"], large, "4")
    if "topk" in asked.which:
        large = made_up("20m", 138_493, 26_744, 20_000_263)
        figures += beside("topk.py", ["implicit"], large)
    if asked.data:
        for path in splits(asked.data, asked.seeds):
            figures += beside("accuracy.py", ["myfm"], path)
    if asked.json:
        Path(asked.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
