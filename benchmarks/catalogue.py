"""A whole catalogue answered for: every slot through a certified table, kept reports to Parquet.

As `tacit perturb --plan catalogue` does it, in blocks of people, secret words and writing included.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import Clock, Figures, speak

SCALE = "0.5:5:0.5"


def ours(path: str, epsilon: str, scale: str = SCALE) -> Figures:
    from tacit import Catalogue, compile_channel, from_frame, synthetic
    from tacit.collection.report_file import write_perturbed

    ratings = from_frame(_frame(path), scale=scale)
    table = compile_channel(
        "randomized-response", epsilon=epsilon, scale=ratings.scale, missing=True
    )
    plan = Catalogue(table)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "reports.parquet"
        write_perturbed(synthetic(50, 40, 1000, scale), plan, file)  # compiles the kernels
        with Clock() as clock:
            written = write_perturbed(ratings, plan, file)
        slots = ratings.n_users * ratings.n_items
        return {
            "slots": slots,
            "reports": written,
            "slots_per_second": slots / clock.wall,
            "slots_per_cpu_second": slots / clock.cpu,
            "disk_gb": os.path.getsize(file) / 1e9,
        }


def _frame(path: str) -> Any:
    import numpy as np
    import polars as pl

    with np.load(path) as file:
        columns = {"user": file["users"], "item": file["items"], "rating": file["ratings"]}
    return pl.DataFrame(columns)


if __name__ == "__main__":
    speak({"ours": ours})
