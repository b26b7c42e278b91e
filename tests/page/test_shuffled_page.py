"""A page in Chromium answers a shuffled task through a shuffler on another origin."""

import json
import shutil
import threading
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from list_models import drawn
from playwright.sync_api import Browser, Page
from processes import free_port
from shuffled_tasks import item_task, star_task
from shuffling import Clock, registered, served_task, wait_until

import tacit
from tacit import fit, item_model, synthetic
from tacit.device.list_profile import ListProfile
from tacit.device.profile import Profile
from tacit.shuffler.batch_files import messages_of
from tacit.shuffler.task_key import TaskKey

pytestmark = pytest.mark.browser
DEVICE = Path(tacit.__file__).parent / "page" / "device"
KEY, PEOPLE = TaskKey.generate(), 20
DEVICE_OF = """async ({ token, shuffler, provider, now }) => {
    globalThis.tacit = await import("/device/shuffled/index.js");
    const policy = { mostEpsilon: "8", honest: "1", bundles: 20 };
    globalThis.device = new tacit.ShuffledClient({
        store: await tacit.openStore(token), shuffler, provider, policy, lifetime: "50", token,
        clock: () => now });
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript"}

    def log_message(self, format, *arguments):
        pass


@pytest.fixture
def site(tmp_path):
    """A site with the device, which is the origin of the provider; its folder and its URL."""
    folder = tmp_path / "site"
    shutil.copytree(DEVICE, folder / "device")
    (folder / "index.html").write_text("<!doctype html><title>Films</title>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def world(tmp_path, site, request):
    """A task of the site, its clock, and a shuffler on another port, which is another origin."""
    clock, folder = Clock(), tmp_path / "shuffler"
    shuffler = f"http://127.0.0.1:{free_port()}"
    made = getattr(request, "param", item_task)
    task = made(key=KEY.public, provider=site[1], shuffler=shuffler)
    with served_task(folder, task, PEOPLE, clock):
        yield task, clock, folder / f"{task.address}.batch"


def opened(browser: Browser, task, clock, person) -> Page:
    """A page of a person, whose store is in the browser context."""
    page = browser.new_page()
    page.goto(f"{task.provider}/index.html")
    settings = {"shuffler": task.shuffler, "provider": task.provider, "now": clock.now}
    page.evaluate(DEVICE_OF, settings | {"token": f"p{person}"})
    return page


def publish(folder: Path, task, document: bytes) -> None:
    """Writes a model where the collector of the provider would serve it."""
    address = sha256(document).hexdigest()
    for name, content in (
        (f"tasks/{task.address}/model", json.dumps({"model": address}).encode()),
        (f"models/{address}", document),
    ):
        path = folder / "v1" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)


def answered(browser, world, own):
    """Counts of all people, each of whom has these items or ratings, by bucket."""
    task, clock, batch = world
    for person in range(PEOPLE):
        page = opened(browser, task, clock, person)
        workers = []
        page.on("worker", lambda worker, seen=workers: seen.append(worker))
        outcome = page.evaluate("(items) => device.sync(items)", own)
        assert (outcome["stored"], outcome["waiting"]) == (1, 0)
        assert len(workers) == 2  # one verifies, one seals
        page.context.close()
    clock.now = task.closes
    wait_until(lambda: task.address in registered(task).closed)
    messages = messages_of(batch.read_bytes())
    counts = KEY.open(messages, task.address, task.round.buckets)
    assert (counts.repeated, counts.invalid) == (0, 0)
    assert counts.counts.sum() == PEOPLE * (task.round.messages + task.round.dummies)
    return counts.counts


def test_from_an_open_task_to_a_list(browser, site, world):
    task, clock, _ = world
    own = list(task.items[:3])
    assert answered(browser, world, own)[:3].min() >= PEOPLE  # all are among the M of everybody
    model = drawn(len(task.items), 0, 2).model
    publish(site[0], task, model.to_bytes())
    page = opened(browser, task, clock, 0)
    best = page.evaluate(
        """async (own) => new tacit.ListProfile(await device.fetchModel(), own).recommend(3)
            .map(({ item, score }) => [item, score])""",
        own,
    )
    page.context.close()
    assert [tuple(one) for one in best] == ListProfile(model, own).recommend(3)


@pytest.mark.parametrize("world", [star_task], indirect=True, ids=["stars"])
def test_from_star_ratings_to_predicted_ratings(browser, site, world):
    """The least and the greatest rating have a certain sign."""
    task, clock, _ = world
    counts = answered(browser, world, {"100": "5", "101": 1, "102": "5.0", "unknown": "9"})
    assert counts[[8, 1, 10]].min() >= PEOPLE
    model = item_model(fit("bias", synthetic(n_users=40, n_items=60, n_ratings=900, rng=5)))
    publish(site[0], task, model.to_bytes())
    page = opened(browser, task, clock, 0)
    ratings = "new Map([[1, 4], ['2', '1'], [5, 5]])"
    best = page.evaluate(f"device.recommend({ratings}, 4)")
    page.context.close()
    expected = Profile(model, {1: 4.0, 2: 1.0, 5: 5.0}).recommend(4)
    assert [each["item"] for each in best] == [item for item, _ in expected]
    assert [each["score"] for each in best] == pytest.approx([score for _, score in expected])


def test_a_bundle_is_in_the_store_before_it_is_sent_and_after_a_reload(browser, site, world):
    """The upload is lost, the page is closed, and a later one sends the same bytes."""
    task, clock, _ = world
    bodies = []
    page = opened(browser, task, clock, 0)
    path = f"**/v1/tasks/{task.address}/bundles"

    def lose(route):
        bodies.append(route.request.post_data_buffer)
        route.abort()

    page.route(path, lose)
    lost = page.evaluate("device.sync([100])")
    assert (lost["stored"], lost["waiting"]) == (0, 1)
    page.unroute(path)
    later = clock.now + 1 + int(lost["again"])
    page.reload()
    settings = {"shuffler": task.shuffler, "provider": task.provider, "token": "p0", "now": later}
    page.evaluate(DEVICE_OF, settings)
    page.on("request", lambda request: bodies.append(request.post_data_buffer))
    assert page.evaluate("device.sync([101])")["stored"] == 1
    spent = page.evaluate("device.ledger().then(({ spent }) => tacit.nats(spent))")
    page.context.close()
    sent = [body for body in bodies if body]
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert len(sent[0]) == task.bundle_bytes
    assert spent == task.certificate.replaced


def test_without_the_file_of_the_worker_the_page_computes(browser, site, world):
    task, clock, _ = world
    (site[0] / "device" / "shuffled" / "worker.js").unlink()
    page = opened(browser, task, clock, 0)
    assert page.evaluate("device.sync([100])")["stored"] == 1
    page.context.close()
