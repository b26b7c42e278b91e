"""`tacit shuffled`: the commands of a provider that collects shuffled messages."""

import math

import numpy as np
import pytest
from film_questions import question
from provider_keys import OTHER
from shuffled_tasks import item_task

from tacit.collection.shuffled.counts import BucketCounts
from tacit.collector.ingest.signing_key import SigningKey
from tacit.collector.storage.published_models import PublishedModels
from tacit.device.shuffled.sealing import sealed_bundle
from tacit.privacy.shuffled_messages import shuffled_epsilon
from tacit.shuffler.batch_files import BatchFiles
from tacit.shuffler.task_key import TaskKey
from tacit.wire.item_model import ItemModel
from tacit.wire.list_model import ListModel
from tacit.wire.shuffled.round_terms import pairs_of
from tacit.wire.shuffled.task import loads


@pytest.fixture
def written(run, tmp_path):
    """Writes a task; returns status, notice and the path of the task."""
    (tmp_path / "films.csv").write_text("item\n" + "\n".join(map(str, range(100))))

    def write(*changes, flags=()):
        usual = {
            "--provider": "https://films.example", "--shuffler": "https://shuffler.example",
            "--epsilon": "4", "--bundles": "5000", "--closes": "2998-05-01T12:00",
            "--messages": "10", "--key": str(tmp_path / "films.key"),
            "-o": str(tmp_path / "films.json"),
        } | dict(zip(changes[::2], changes[1::2], strict=True))  # fmt: skip
        options = [word for pair in usual.items() for word in pair]
        status, _, notice = run("shuffled", "task", tmp_path / "films.csv", *options, *flags)
        return status, " ".join(notice.split()), tmp_path / "films.json"

    return write


def test_a_task_announces_its_second_round_and_has_a_new_key(written, tmp_path):
    status, notice, path = written()
    task = loads(path.read_bytes())
    assert status == 0
    assert task.address in notice
    assert "Epsilon = 4 per user (profile replaced by any other one)" in notice
    assert "announces a task about pairs" in notice
    assert (task.provider, task.shuffler) == ("https://films.example", "https://shuffler.example")
    assert task.items == tuple(range(100))
    assert task.closes == 32_451_019_200
    assert task.key == TaskKey.load(tmp_path / "films.key").public
    claim = task.certificate
    assert (claim.replaced, claim.delta, claim.bundles) == ("4", "0.000002", 5_000)
    assert 20 <= claim.rounds[1].dummies <= 21
    bound = shuffled_epsilon(claim.rounds, devices=4_000, delta=2e-6)
    assert 3 < bound <= 4


def test_without_room_for_pairs_the_task_is_the_only_one(written):
    status, notice, path = written("--most-dummies", "1")
    assert status == 0
    assert "is the only one" in notice
    assert loads(path.read_bytes()).announced is None


def test_a_key_is_not_used_twice(written):
    _, _, path = written()
    before = path.read_bytes()
    status, notice, _ = written()
    assert (status, path.read_bytes()) == (1, before)
    assert "a key is for one task" in notice


@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [("--closes", "1999-05-01T12:00", "must be in the future"),
     ("--shuffler", "https://films.example", "different origins"),
     ("--delta", "0.1", "must be at most"), ("--honest", "2", "must be above 0 and at most 1"),
     ("--provider", "films", "not of the form https://host")],
)  # fmt: skip
def test_invalid_options_write_nothing(written, tmp_path, option, value, remedy):
    status, notice, path = written(option, value)
    assert status == 1
    assert remedy in notice
    assert not path.exists()
    assert not (tmp_path / "films.key").exists()


def test_a_task_about_pairs_and_lists_follow_from_counts(written, run, tmp_path):
    task = loads(written()[2].read_bytes())
    counts = np.full(task.round.buckets, 1_000)
    counts[:100] += np.linspace(3_000, 1_000, 100).astype(int)
    first, path = tmp_path / "first.json", tmp_path / "pairs.json"
    first.write_bytes(BucketCounts(task, 7_000, counts).document)
    closes = ("--closes", "2999-05-01T12:00", "--key", tmp_path / "pairs.key")
    status, _, notice = run("shuffled", "pairs", first, *closes, "-o", path)
    assert status == 0, notice
    pairs = loads(path.read_bytes())
    assert pairs.is_announced_by(task)
    assert pairs.key == TaskKey.load(tmp_path / "pairs.key").public != task.key
    second, model = tmp_path / "second.json", tmp_path / "model"
    second.write_bytes(BucketCounts(pairs, 7_000, np.arange(pairs.round.buckets)).document)
    models = PublishedModels(tmp_path / "models")
    publish = ("--publish", tmp_path / "models")
    status, _, notice = run("shuffled", "fit", first, second, *publish, "-o", model)
    assert (status, "shuffled-ease" in notice) == (0, True)
    for each in (task, pairs):
        assert models.model(models.newest(each.address)) == model.read_bytes()
        (record,) = models.publications(each.address)
        assert (record.learner, record.reports) == ("shuffled-ease", 14_000)
    assert len(ListModel.from_bytes(model.read_bytes()).items) == 100
    for wrong in ((first, second, second), (second,), (first, first)):
        assert run("shuffled", "fit", *wrong, "-o", tmp_path / "none")[0] == 1
    assert not (tmp_path / "none").exists()


def test_without_signal_no_task_about_pairs_is_written(written, run, tmp_path):
    task = loads(written()[2].read_bytes())
    first, path = tmp_path / "first.json", tmp_path / "pairs.json"
    first.write_bytes(BucketCounts(task, 7_000, np.full(task.round.buckets, 9)).document)
    closes = ("--closes", "2999-05-01T12:00", "--key", tmp_path / "pairs.key")
    status, _, notice = run("shuffled", "pairs", first, *closes, "-o", path)
    assert status == 1
    assert "would not exceed their noise" in " ".join(notice.split())
    assert not path.exists()
    assert not (tmp_path / "pairs.key").exists()


def test_counting_requires_a_token_or_a_batch(written, run, tmp_path):
    path = written()[2]
    count = ("shuffled", "count", path, "--key", tmp_path / "films.key", "-o", tmp_path / "counts")
    status, _, notice = run(*count)
    assert (status, "--token is required" in notice) == (1, True)
    (tmp_path / "batch").write_bytes(bytes(53))
    status, _, notice = run(*count, "--batch", tmp_path / "batch")
    assert (status, "the task requires 5000" in " ".join(notice.split())) == (1, True)
    assert (tmp_path / "films.key").exists()


@pytest.mark.parametrize(
    "options",
    [("--processes", "2"),
     pytest.param(("--engine", "spark", "--master", "local[2]"), marks=pytest.mark.spark)],
    ids=["processes", "spark"],
)  # fmt: skip
def test_counts_are_the_same_on_every_engine(run, tmp_path, options):
    key = TaskKey.generate()
    task = item_task(key=key.public)
    (tmp_path / "task.json").write_bytes(task.document)
    files = BatchFiles(tmp_path)
    files.write("a", [sealed_bundle(task, task.items[: person % 9]) for person in range(20)])
    contents = []
    for each in ((), options):
        key.save(tmp_path / "key")
        count = ("--key", tmp_path / "key", "--batch", files.path("a"), "-o", tmp_path / "counts")
        status, _, notice = run("shuffled", "count", tmp_path / "task.json", *count, *each)
        assert (status, "20 bundles, 860 messages" in " ".join(notice.split())) == (0, True)
        assert not (tmp_path / "key").exists()
        contents.append((tmp_path / "counts").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [(("--engine", "spark", "--processes", "2"), "--processes requires --engine local"),
     (("--master", "local[2]"), "--master local[2] requires --engine spark"),
     (("--engine", "dask"), "--engine must be local or spark, got 'dask'")],
)  # fmt: skip
def test_invalid_engines_are_refused_before_the_download(written, run, tmp_path, options, remedy):
    count = ("--key", tmp_path / "films.key", "--token", "t", "-o", tmp_path / "counts")
    status, _, notice = run("shuffled", "count", written()[2], *count, *options)
    assert (status, remedy in " ".join(notice.split())) == (1, True)
    assert (tmp_path / "films.key").exists()


def test_a_plan_is_that_of_its_tasks(run, written):
    """The same bundle about items as in the task, and a head within the dummies."""
    shape = ("--items", "100", "--bundles", "5000", "--epsilon", "4", "--messages", "10")
    status, printed, notice = run("shuffled", "plan", *shape)
    assert status == 0, notice
    task = loads(written()[2].read_bytes())
    (line,) = (each.split() for each in printed.splitlines() if each.split()[:1] == ["4"])
    first = task.round.messages + task.round.dummies
    head, pairs = int(line[3]), int(line[4])
    announced = task.announced
    assert line[:3] == ["4", "10", str(first)]
    assert head == 100
    assert pairs == 10 + math.ceil(announced.dummies * pairs_of(head) / announced.buckets)
    assert float(line[5]) == round((first + pairs) * 53 / 1000, 1)
    assert "delta 0.000002" in printed
    status, printed, _ = run("shuffled", "plan", *shape, "--most-dummies", "30")
    (line,) = (each.split() for each in printed.splitlines() if each.split()[:1] == ["4"])
    assert 61 <= int(line[3]) < 100
    assert int(line[4]) <= 40


def test_a_plan_without_integers_is_refused(run):
    shape = ("--items", "100", "--bundles", "5000", "--epsilon", "4")
    status, _, notice = run("shuffled", "plan", *shape, "--messages", "1.5")
    assert (status, "write it as in 30,100" in " ".join(notice.split())) == (1, True)


def test_a_signed_task_and_its_second_round_have_keys_of_their_own(written, run, tmp_path):
    assert loads(written()[2].read_bytes()).signer is None
    assert not (tmp_path / "films.pem").exists()
    (tmp_path / "films.key").unlink()
    status, notice, path = written(flags=("--signed",))
    assert status == 0, notice
    task = loads(path.read_bytes())
    assert task.signer == SigningKey(tmp_path / "films.pem").modulus
    counts = np.full(task.round.buckets, 1_000)
    counts[:100] += np.linspace(3_000, 1_000, 100).astype(int)
    first, second = tmp_path / "first.json", tmp_path / "pairs.json"
    first.write_bytes(BucketCounts(task, 7_000, counts).document)
    closes = ("--closes", "2999-05-01T12:00", "--key", tmp_path / "pairs.key")
    status, _, notice = run("shuffled", "pairs", first, *closes, "-o", second)
    assert status == 0, notice
    pairs = loads(second.read_bytes())
    assert pairs.is_announced_by(task)
    assert pairs.signer == SigningKey(tmp_path / "pairs.pem").modulus != task.signer


def test_invalid_options_leave_no_signing_key(written, tmp_path):
    status, _, path = written("--shuffler", "https://films.example", flags=("--signed",))
    assert (status, path.exists()) == (1, False)
    assert not (tmp_path / "films.pem").exists()


def test_a_batch_in_a_file_requires_its_tokens(written, run, tmp_path):
    path = written(flags=("--signed",))[2]
    (tmp_path / "batch").write_bytes(bytes(53))
    count = (
        "shuffled", "count", path, "--key", tmp_path / "films.key", "-o", tmp_path / "counts",
        "--batch", tmp_path / "batch",
    )  # fmt: skip
    status, _, notice = run(*count)
    assert (status, "requires signed tokens" in notice) == (1, True)
    (tmp_path / "tokens").write_bytes(bytes(416))
    status, _, notice = run(*count, "--tokens", tmp_path / "tokens")
    assert (status, "has 0 valid tokens" in notice) == (1, True)
    assert (tmp_path / "films.key").exists()


def test_a_collector_signs_for_customers_and_tasks_with_a_key(written, run, tmp_path):
    channel = tmp_path / "task.json"
    channel.write_bytes(question().document)
    collect = ("collect", "--db", tmp_path / "reports.db", "--task", channel, "--port", "0")
    (tmp_path / "customers").write_text("0" * 64)
    with_tokens = (*collect, "--tokens", tmp_path / "customers")
    folder = tmp_path / "signing"
    folder.mkdir()
    status, _, notice = run(*collect, "--sign", folder)
    assert (status, "--sign requires --tokens" in notice) == (1, True)
    status, _, notice = run(*with_tokens, "--sign", folder)
    assert (status, "no shuffled task with a signer" in " ".join(notice.split())) == (1, True)
    written(flags=("--signed",))[2].rename(folder / "films.json")
    for key in (None, "other.pem"):
        if key is not None:
            OTHER.save(tmp_path / key)
            (tmp_path / key).rename(folder / "films.pem")
        status, _, notice = run(*with_tokens, "--sign", folder)
        assert (status, "must be the signing key of the task" in " ".join(notice.split())) == (
            1,
            True,
        )


class TestStars:
    """`--scale` writes a task about star ratings, and the other commands follow from its counts."""

    OPTIONS = ("--scale", "1:5:1", "--bundles", "50000", "--messages", "30")

    def test_a_task_has_the_scale(self, written):
        status, notice, path = written(*self.OPTIONS, flags=["--signed"])
        task = loads(path.read_bytes())
        assert (status, task.name, str(task.scale), task.means) == (0, "Ratings", "1:5:1", None)
        assert "announces a task about pairs" in notice
        assert task.round.buckets == 2 * 100 + 300
        assert task.format == "tacit-shuffled-3"
        assert task.signer == SigningKey(path.with_suffix(".pem")).modulus
        assert task.certificate.replaced == "4"

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("scale", "reason"),
        [("there", "requires ratings with several levels"), ("5", "not of the form low:high:step"),
         ("0:1e13:1e13", "below 2^53 thousandths")],
    )  # fmt: skip
    def test_an_invalid_scale_writes_nothing(self, written, tmp_path, scale, reason):
        status, notice, path = written("--scale", scale)
        assert (status, reason in notice, path.exists()) == (1, True, False)
        assert not (tmp_path / "films.key").exists()

    def test_few_bundles_have_item_means_alone(self, written):
        status, notice, path = written("--scale", "1:5:1", "--bundles", "100")
        assert (status, "is the only one" in notice) == (0, True)
        assert loads(path.read_bytes()).announced is None

    def test_a_task_about_pairs_and_a_rating_model_follow_from_counts(self, written, run, tmp_path):
        task = loads(written(*self.OPTIONS)[2].read_bytes())
        counts = np.full(task.round.buckets, 1_000)
        counts[:200] += np.linspace(9_000, 4_000, 200).astype(int)
        first, path, model = (tmp_path / name for name in ("first.json", "pairs.json", "model"))
        first.write_bytes(BucketCounts(task, 70_000, counts).document)
        closes = ("--closes", "2999-05-01T12:00", "--key", tmp_path / "pairs.key")
        status, _, notice = run("shuffled", "pairs", first, *closes, "-o", path)
        assert status == 0, notice
        pairs = loads(path.read_bytes())
        assert pairs.is_announced_by(task)
        assert len(pairs.means) == len(pairs.items) == 100
        second = tmp_path / "second.json"
        second.write_bytes(BucketCounts(pairs, 70_000, np.arange(pairs.round.buckets)).document)
        models = PublishedModels(tmp_path / "models")
        for learner, files in (
            ("shuffled-item-mean", (first,)), ("shuffled-covariance", (first, second)),
        ):  # fmt: skip
            publish = ("--publish", tmp_path / "models", "-o", model)
            status, _, notice = run("shuffled", "fit", *files, *publish)
            assert (status, learner in notice) == (0, True)
            assert models.model(models.newest(task.address)) == model.read_bytes()
            read = ItemModel.from_bytes(model.read_bytes())
            assert (len(read.items), str(read.scale)) == (100, "1:5:1")
            assert (read.factors > 0) == (len(files) == 2)

    def test_a_plan_of_signed_messages_has_the_sizes_of_its_task(self, written, run):
        task = loads(written(*self.OPTIONS)[2].read_bytes())
        plan = ("--items", "100", "--bundles", "50000", "--epsilon", "4", "--messages", "30")
        status, table, _ = run("shuffled", "plan", *plan, "--scale", "1:5:1")
        assert status == 0
        row = table.splitlines()[-1].split()
        assert row[2] == str(task.round.messages + task.round.dummies)
        assert row[3] == "100"
