"""`tacit serve`: a collector and its page with synthetic films and users, as a demonstration."""

import signal
import time
from dataclasses import replace
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError
from tacit.experiments.defaults import model_for

if TYPE_CHECKING:
    from tacit.ratings import Ratings
    from tacit.wire.tasks.task import Task

EPSILONS = ("1", "2", "4")
PEOPLE, EACH = 600, 40
"""Number of synthetic users, and of ratings per user."""


def serve(
    folder: Annotated[
        Path,
        typer.Option(
            help="Folder for the task, the reports and the models. It is created if it "
            "does not exist."
        ),
    ] = Path("served"),
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port to listen on.")] = 8000,
) -> None:
    """Serve the page and a collector with synthetic users.

    The page shows 300 synthetic films, rated by 600 synthetic users. Each user has a simulated
    device, which reports over HTTP. A model is fitted to the reports and published, and the page
    uses it for recommendations. A second run continues from the folder and requires the same
    address, because the task names its provider. If the folder contains your own task, that task is
    served instead.

    Example: tacit serve
    """

    try:
        from tacit.collector.http.app import application
        from tacit.collector.http.server import listening
        from tacit.collector.http.server import serve as run
        from tacit.collector.storage.published_models import PublishedModels
        from tacit.labels.on_request import served
    except ImportError as error:
        raise RequestError(
            f"The collector is not installed ({error}). Run pip install "
            "'tacit-recommender[collector]'."
        ) from None

    folder.mkdir(parents=True, exist_ok=True)
    url = _url(host, port)
    listener = listening(host, port)
    task, published = _task(folder, url), PublishedModels(folder / "models")
    if published.newest(task.address) is None:
        # A separate process: fitting holds the GIL, and the page must stay responsive.
        populating = get_context("spawn").Process(target=populate, args=(folder, url), daemon=True)
        populating.start()
    options.notice(f"Open {url} in a browser. Press Ctrl-C to stop.")
    store = str(folder / "reports.db")
    run(application(store, [task], published=published, label=served), listener)


def populate(folder: Path, url: str) -> None:
    """Simulate synthetic users against the collector at `url`, then fit and publish a model.

    A task that they cannot answer is served without reports, with a notice.
    """
    # Ctrl-C stops the server, which stops this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    from tacit.wire.tasks.loading import loads

    task = loads((folder / "task.json").read_bytes())
    try:
        _report(task, url)
        options.notice(_learn(folder, task))
    except RequestError as error:
        options.notice(f"No synthetic device could report: {error}")


def _report(task: "Task", url: str) -> None:
    from tacit.planning.fleet import Fleet

    people = people_for(task)
    most = max((channel.epsilon for channel in task.channels), key=Decimal)
    fleet = Fleet(
        url=url, most_epsilon=most, lifetime="1000000", insecure=True, threads=4
    )  # the url is one of this machine
    fleet.report(people, people.n_users)


def _learn(folder: Path, task: "Task") -> str:
    """Fit a model to the stored reports and publish it. Returns a summary."""
    from contextlib import closing

    from tacit import models
    from tacit.collector.storage import stored_reports
    from tacit.collector.storage.addresses import open_reader
    from tacit.collector.storage.published_models import PublishedModels
    from tacit.learners.learner import learner

    with closing(open_reader(str(folder / "reports.db"))) as reader:
        reports = stored_reports.reports(reader, task.address)
    fitted = learner(model_for(reports)).fit(reports)
    stars = isinstance(fitted, models.Fitted)
    learnt = models.item_model(fitted) if stars else models.list_model(fitted)
    address = PublishedModels(folder / "models").publish(task.address, learnt)
    return f"Fitted to {len(reports):,} reports. Published model {address[:12]}."


def _url(host: str, port: int) -> str:
    """Return the URL with which a browser on this machine reaches a server on `host`."""
    from tacit.wire.origin import origin_of

    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return origin_of(f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}")


def _task(folder: Path, url: str) -> "Task":
    """Load the task of the folder, or create it. Raises `RequestError` for the task of another
    provider, which no device would answer here."""
    from tacit.atomic_files import write_atomically
    from tacit.wire.tasks.loading import loads

    path = folder / "task.json"
    if not path.exists():
        write_atomically(path, made_up_task(made_up_people(), url).document)
    task = loads(path.read_bytes())
    if task.origin not in (None, url):
        raise RequestError(
            f"The provider of the task {path} is at {task.origin}, not {url}; serve "
            "at that address, or choose another --folder."
        )
    return task


def made_up_people() -> "Ratings":
    """Generate ratings of 300 films by 600 users, the same in every run."""
    from tacit.readers import synthetic

    return synthetic(n_users=PEOPLE, n_items=300, n_ratings=EACH * PEOPLE)


def people_for(task: "Task") -> "Ratings":
    """Generate ratings of a task's items by 600 users. Raises `RequestError` below 40 items."""
    import polars as pl

    from tacit.readers import synthetic
    from tacit.vocabulary import Vocabulary

    n = len(task.items)
    people = synthetic(PEOPLE, n, min(EACH, n // 2) * PEOPLE, task.scale)
    return replace(people, item_ids=Vocabulary(pl.Series("id", task.items).sort()))


def made_up_task(people: "Ratings", provider: str) -> "Task":
    """Return the default task: channels of three epsilons to choose from, one epoch per day."""
    from tacit import channels
    from tacit.readers.synthetic import made_up_titles
    from tacit.wire.tasks.task import Task

    return Task(
        name="Films",
        provider=provider,
        scale=people.scale,
        plan="rated",
        items=tuple(people.item_ids.ids),
        titles=tuple(made_up_titles(people.n_items)),
        channels=tuple(
            channels.compile_channel("randomized-response", epsilon=epsilon, scale=people.scale)
            for epsilon in EPSILONS
        ),
        start=int(time.time()),
    )
