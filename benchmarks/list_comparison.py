"""Who makes lists on a published split, in which settings, and what has to come out."""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench import OURS, Bench, made
from lists import ALS_GRID, BPR_GRID, judged

ROUNDS = 3
"""In each of which every party that is timed runs once, one after the other."""
TIMED = (OURS, "implicit-als")
ONCE = ("ours-popularity", "implicit-bpr")
GRIDS = {"implicit-als": ALS_GRID, "implicit-bpr": BPR_GRID}


def compare_lists(bench: Bench, data: str, rounds: int = ROUNDS) -> None:
    """Ours, popularity, and implicit's ALS and BPR at their defaults and at the best of a grid."""
    path = str(made(data, "test"))
    with TemporaryDirectory() as folder:
        out = Path(folder) / "lists.npy"

        def run(case: str, party: str, part: str, *setting: object) -> dict[str, float] | None:
            return bench.run(
                "lists", case, party, path, part, out, *setting, environment="implicit",
                judge=lambda: judged(path, part, out),
            )  # fmt: skip

        said: dict[str, list[dict[str, float] | None]] = {party: [] for party in TIMED}
        for number in range(rounds):
            for party in TIMED:
                said[party].append(run(f"defaults, round {number}", party, "test"))
        for party in ONCE:
            run("defaults", party, "test")
        for party, grid in GRIDS.items():
            tried = [(run(f"held {s}", party, "held", *s), s) for s in grid]
            found = [(row["ndcg_at_20"], setting) for row, setting in tried if row]
            if found:
                best = max(found)[1]
                run(f"best {best}", party, "test", *best)
    _bars(bench, {party: [row for row in rows if row] for party, rows in said.items()})


def _bars(bench: Bench, said: dict[str, list[dict[str, float]]]) -> None:
    ours, theirs = said[OURS], said["implicit-als"]
    if ours and theirs:
        share = median(row["cpu_s"] for row in ours) / median(row["cpu_s"] for row in theirs)
        bench.most("lists: share of implicit's CPU seconds, ALS at defaults, medians", share, 1)
    if ours:
        bench.most("lists: peak GB", max(row["peak_gb"] for row in ours), 6)
        bench.least("lists: Recall@20", ours[0]["recall_at_20"], 0.1849)
        bench.least("lists: NDCG@20", ours[0]["ndcg_at_20"], 0.1518)
