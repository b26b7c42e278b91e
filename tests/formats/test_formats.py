"""What an earlier version wrote is read to the same figures. `make.py` made the files, once."""

import json
import shutil
from pathlib import Path

import pytest

from tacit.collection.report_file import read_reports
from tacit.collector.storage.addresses import open_reader
from tacit.collector.storage.stored_reports import reports
from tacit.device.list_profile import ListProfile
from tacit.device.profile import Profile
from tacit.device.storage.store import Store
from tacit.experiments.comparison.experiment_file import read
from tacit.experiments.experiment import Journal
from tacit.models import Fitted
from tacit.results.comparison.row import ResultRow, read_rows
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel
from tacit.wire.tasks.loading import loads

FOLDERS = sorted(
    path for path in Path(__file__).parent.iterdir() if (path / "expected.json").exists()
)
ITEMS = [1, 5, 30, 60]


def same(found: object, expected: object) -> bool:
    """Whether both are equal, numbers to 1e-5: the last digits depend on the processor."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], expected[k]) for k in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, float) and isinstance(expected, float):
        return abs(found - expected) <= 1e-5
    return found == expected


def of_task(path: Path) -> dict[str, object]:
    task = loads(path.read_bytes())
    return {
        "address": task.address,
        "plan": task.plan,
        "items": len(task.items),
        "epsilons": [str(channel.epsilon) for channel in task.channels],
    }


def of_device(path: Path) -> dict[str, object]:
    store = Store(path, 100 * 10**9)
    query = "SELECT count(*), sum(symbol) FROM answer"
    found = {
        "spent": store.ledger.spent,
        "ratings": {str(place): level for place, level in store.ratings(1).items()},
        "answers": list(store.db.execute(query).fetchone()),
    }
    store.close()
    return found


def of_collector(path: Path) -> dict[str, object]:
    reader = open_reader(str(path))
    found = reports(reader)
    reader.close()
    return of_reports(found)


def of_reports(found) -> dict[str, object]:
    return {
        "reports": len(found),
        "people": found.n_users,
        "items": found.n_items,
        "symbols": int(found.symbols.sum()),
        "guarantee": found.guarantee.sentence,
    }


def of_model(path: Path) -> dict[str, object]:
    fitted = Fitted.load(path)
    ids = fitted.user_ids.ids.to_list()
    users = [user for user in ids[:3] for _ in ITEMS]
    return {
        "people": len(ids),
        "predictions": [round(float(x), 6) for x in fitted.predict(users, ITEMS * 3)],
        "guarantee": fitted.guarantee.sentence,
    }


def of_item_model(path: Path) -> dict[str, object]:
    profile = Profile(ItemModel.from_bytes(path.read_bytes()), {3: 4, 5: 1, 8: 4})
    return {"best": [[item, round(rating, 6)] for item, rating in profile.recommend(5)]}


def of_list_model(path: Path) -> dict[str, object]:
    profile = ListProfile(ListModel.from_bytes(path.read_bytes()), [3, 5, 8])
    return {"best": [[item, round(score, 6)] for item, score in profile.recommend(5)]}


def of_journal(path: Path) -> dict[str, object]:
    keys = [json.dumps(json.loads(line)["cell"]) for line in path.read_text().splitlines()]
    return of_results(Journal(path, ResultRow).rows(keys))


def of_results(rows: list[ResultRow]) -> dict[str, object]:
    return {
        "rmse": [str(round(row.rmse, 4)) for row in rows],
        "models": [row.model for row in rows],
    }


def of_experiment(path: Path) -> dict[str, object]:
    options, recorded = read(path)
    return {"options": sorted(options), "recorded": type(recorded).__name__}


KINDS = {
    "rows.toml": of_experiment,
    "rated.task.json": of_task,
    "sample.task.json": of_task,
    "catalogue.task.json": of_task,
    "implicit.task.json": of_task,
    "rated.device.db": of_device,
    "sample.device.db": of_device,
    "implicit.device.db": of_device,
    "rated.collector.db": of_collector,
    "sample.collector.db": of_collector,
    "catalogue.collector.db": of_collector,
    "implicit.collector.db": of_collector,
    "reports.parquet": lambda path: of_reports(read_reports(path)),
    "implicit.parquet": lambda path: of_reports(read_reports(path)),
    "bias.model": of_model,
    "mf.model": of_model,
    "of-store.model": of_model,
    "presence.model": of_model,
    "mf.items": of_item_model,
    "ease": of_list_model,
    "rows.json": lambda path: of_results(read_rows(path)),
    "grid.json.journal": of_journal,
}


def test_there_are_files_of_an_earlier_version():
    assert FOLDERS


@pytest.mark.sampled(4)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
@pytest.mark.parametrize("name", KINDS)
def test_a_file_of_an_earlier_version_is_read_to_the_same_figures(folder, name, tmp_path):
    expected = json.loads((folder / "expected.json").read_text())
    copy = Path(shutil.copy(folder / name, tmp_path))  # a store is opened for writing
    assert same(KINDS[name](copy), expected[name])
