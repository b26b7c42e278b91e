"""Make the files of `stores` by the commands of the tree that is checked out.

    python tests/formats/make.py FOLDER

The files that are committed were made once, by the version of their folder, and are never made
again: they show that what that version wrote can still be read.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl

from tacit import Client, Ratings, synthetic

PORT = 8471
URL = f"http://127.0.0.1:{PORT}"


def tacit(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "tacit", *arguments], cwd=folder, check=True)


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    ratings = synthetic(n_users=12, n_items=60, n_ratings=300, rng=3)
    ratings.to_polars().write_csv(folder / "ratings.csv")
    items = pl.DataFrame({"item": range(1, 61)})
    items.with_columns(title=pl.format("Film {}", "item")).write_csv(folder / "items.csv")
    stars = ("--scale", "1:5:1")
    tacit(folder, "perturb", "ratings.csv", *stars, "--epsilon", "2", "-o", "reports.parquet")
    tacit(folder, "fit", "reports.parquet", "--model", "mf", "--factors", "2", "-o", "mf.model")
    tacit(folder, "fit", "reports.parquet", "--model", "bias", "-o", "bias.model")
    tacit(folder, "compare", "ratings.csv", *stars, "--model", "bias", "--channel", "optimal",
          "--epsilon", "1", "--json", "rows.json")  # fmt: skip
    for plan in ("rated", "sample:8"):
        collected(folder, plan, plan.partition(":")[0])
    hidden(folder, ratings)
    interrupted(folder)


def hidden(folder: Path, ratings: Ratings) -> None:
    """Write files of plans that hide what was rated, of ratings and of implicit feedback."""
    ratings.to_polars().select("user", "item").write_csv(folder / "implicit.csv")
    tacit(folder, "perturb", "implicit.csv", "--scale", "there", "--plan", "catalogue",
          "--epsilon", "4", "-o", "implicit.parquet")  # fmt: skip
    tacit(folder, "fit", "ratings.csv", "--scale", "1:5:1", "--plan", "catalogue",
          "--epsilon", "4", "--model", "channel-mf", "--factors", "1",
          "-o", "presence.model")  # fmt: skip
    collected(folder, "catalogue", "catalogue")
    collected(folder, "sample:8", "implicit", "there", "implicit.csv")


def interrupted(folder: Path) -> None:
    """Write the journal of a comparison that is interrupted after its first result."""
    journal = folder / "grid.json.journal"
    asks = ("compare", "ratings.csv", "--scale", "1:5:1", "--model", "bias,mf", "--channel",
            "optimal", "--epsilon", "1,2,4,8", "--json", "grid.json")  # fmt: skip
    running = subprocess.Popen([sys.executable, "-m", "tacit", *asks], cwd=folder)
    while running.poll() is None and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    running.wait()


def collected(
    folder: Path, plan: str, name: str, scale: str = "1:5:1", data: str = "ratings.csv"
) -> None:
    """A task, a collector's store with reports to it, a device's store and published models."""
    tacit(folder, "task", "items.csv", "--provider", URL, "--plan", plan, "--epsilon", "1,2",
          "--scale", scale, "-o", f"{name}.task.json")  # fmt: skip
    store = f"{name}.collector.db"
    asks = ("collect", "--db", store, "--task", f"{name}.task.json", "--port", str(PORT))
    running = subprocess.Popen([sys.executable, "-m", "tacit", *asks], cwd=folder)
    try:
        time.sleep(4)
        with Client(folder / f"{name}.device.db", URL, most_epsilon="2", lifetime="1000") as me:
            me.sync()
            for item in (3, 5, 8, 13, 21):
                me.rate(item, 1 if scale == "there" else 1 + item % 5)
            me.sync()
        tacit(folder, "simulate", data, "--scale", scale, "--url", URL,
              "--most-epsilon", "2", "--lifetime", "1000")  # fmt: skip
    finally:
        running.terminate()
        running.wait()
    if name in ("catalogue", "implicit"):
        return
    if name == "sample":
        tacit(folder, "fit", "--db", store, "--model", "ease", "--publish", "lists", "-o", "ease")
    else:
        tacit(folder, "fit", "--db", store, "--model", "mf", "--factors", "2",
              "--publish", "published", "-o", "of-store.model")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
