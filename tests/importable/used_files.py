"""Read changed files and use them as their commands do, in a process that may be lost.

    python used_files.py FOLDER

Reads lines of a kind and a case's number, and answers each with a line: what came of it.
"""

import faulthandler
import json
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
from changed_files import changed

from tacit import fit
from tacit.collection.report_file import read_reports
from tacit.collection.task_guarantee import all_channels_guarantees, task_guarantee
from tacit.collector.ingest.opening import opened
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.stored_reports import reports, together
from tacit.device.client import Client
from tacit.device.list_profile import ListProfile
from tacit.device.profile import Profile
from tacit.errors import TacitError
from tacit.experiments.experiment import Journal
from tacit.models import Fitted, fold_in, item_model, list_model
from tacit.readers import from_frame
from tacit.reports import Reports
from tacit.results.comparison.row import ResultRow, read_rows
from tacit.results.records import to_frame
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.task import asked

LIMIT = 60
"""Seconds for one case."""
ITEMS = [3, 5, 8]


def quiet(sentence: str) -> None:
    """Take a notice."""


def learn(found: Reports) -> None:
    """Fit a model of ratings, or of lists, and use it."""
    found.guarantee.sentence  # noqa: B018  # computed, as the command prints it
    if found.scale.has_one_level:
        list_model(fit("popularity", found)).to_bytes()
        return
    fitted = fit("bias", found)
    fitted.recommend(found.user_ids.ids[0], 3, notify=quiet)
    item_model(fitted).to_bytes()


def use_reports(path: Path) -> None:
    learn(read_reports(path))


def use_collector(path: Path) -> None:
    """Open a store as a collector does, and fit from it."""
    with closing(open_reader(str(path))) as reader:
        tasks = together(reader)
    opened(str(path), tasks).close()
    with closing(open_reader(str(path))) as reader:
        learn(reports(reader))


def use_device(path: Path) -> None:
    """Rate, report and recommend without a collector that answers."""
    url = "http://127.0.0.1:8471"
    with Client(
        path, url, most_epsilon="2", lifetime="1000", transport=lambda *request: None
    ) as me:
        me.export()
        _ = me.ratings, me.ledger
        me.rate(me.task.items[0], me.task.scale.levels[0])
        me.sync()
        me.recommend(3)


def use_items(path: Path) -> None:
    model = ItemModel.from_bytes(path.read_bytes())
    top = model.scale.values[-1]
    profile = Profile(model, {model.items[0]: top, **dict.fromkeys(ITEMS, top)})
    profile.recommend(3)
    profile.predict("none")


def use_lists(path: Path) -> None:
    model = ListModel.from_bytes(path.read_bytes())
    ListProfile(model, [*ITEMS, model.items[-1]]).recommend(3)


def use_model(path: Path) -> None:
    """Predict and recommend at the provider and on devices."""
    fitted = Fitted.load(path)
    fitted.guarantee.sentence  # noqa: B018
    user = fitted.user_ids.ids[0] if len(fitted.user_ids) else 1
    fitted.recommend(user, 3, notify=quiet)
    fitted.predict([str(user), "none"], ["none", "3"])
    top = float(fitted.scale.values[-1])
    rows = {"user": [user] * 3, "item": fitted.item_ids.ids[:3].to_list(), "rating": [top] * 3}
    fold_in(
        fitted, from_frame(pl.DataFrame(rows), scale=str(fitted.scale), notify=quiet)
    ).recommend(user, 3)
    published = ItemModel.from_bytes(item_model(fitted).to_bytes())
    Profile(published, {published.items[0]: top}).recommend(3)


def use_task(path: Path) -> None:
    found = loads(path.read_bytes())
    found.choose("2")
    asked(found, "ab" * 16)
    task_guarantee(found).sentence  # noqa: B018
    list(all_channels_guarantees(found))
    found.epoch(time.time())


def use_journal(path: Path) -> None:
    """Go on with a comparison, or print its results."""
    if path.read_bytes()[:1] == b"[":
        to_frame(read_rows(path), ResultRow)
        return
    journal = Journal(path, ResultRow)
    to_frame(journal.rows(list(journal._rows)), ResultRow)


USES: dict[str, Callable[[Path], None]] = {
    "reports": use_reports,
    "collector": use_collector,
    "device": use_device,
    "items": use_items,
    "lists": use_lists,
    "model": use_model,
    "task": use_task,
    "journal": use_journal,
}


def outcome(kind: str, seed: int, folder: Path) -> str:
    """ "used" or "refused", or the exception that no user should see."""
    path = folder / f"case-{seed}"
    changed(kind, seed, path)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    try:
        USES[kind](path)
    except TacitError as refusal:
        sentence = str(refusal)
        sound = len(sentence.splitlines()) == 1 and sentence.endswith(".")
        return "refused" if sound else f"sentence {sentence!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {error} {_where(error)}"
    finally:
        faulthandler.cancel_dump_traceback_later()
        for file in folder.glob(f"{path.name}*"):
            file.unlink()
    return "used"


def _where(error: BaseException) -> str:
    trace, places = error.__traceback__, list[str]()
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(places[-6:]))


def main(folder: str) -> None:
    warnings.simplefilter("ignore")  # a file of odd numbers may make NumPy warn
    np.seterr(all="ignore")
    for line in sys.stdin:
        kind, seed = line.split()
        print(json.dumps(outcome(kind, int(seed), Path(folder))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
