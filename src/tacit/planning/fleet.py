"""A fleet: the users of a ratings file as simulated devices, against a real collector.

Each device draws its noise from the operating system, has its own ledger, and reports over HTTP.
Its store is in memory and is deleted with it.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from threading import Event

import numpy as np

from tacit.device.client import Client
from tacit.device.outbox import SyncOutcome, some_share
from tacit.device.profile import Item
from tacit.device.storage.store import MEMORY
from tacit.device.transport import Http
from tacit.errors import BudgetError, RequestError
from tacit.metrics.accuracy import rmse
from tacit.metrics.lists import LENGTH, list_figures
from tacit.progress import Progress
from tacit.ratings import Ratings
from tacit.scale import shortest

SPEEDUP = 60
"""Factor by which waits before a retry are shorter than those of real devices."""
ATTEMPTS = 8
PATIENCE = 60.0
"""Longest wait for a retry in seconds: a collector may ask for a day."""
Profile = Mapping[Item, str]


@dataclass
class FleetOutcome:
    """Outcome of a fleet, or of one device.

    `counts`: "devices", "ratings" on the devices, ratings of items "not asked", reports "stored",
    "given up" and "waiting", devices "refused" by their own lifetime limit, and devices "unreached"
    by the task. `errors`: prediction minus truth of held-out ratings, in stars.
    `notes`: errors that the collector returned, with the number of devices that received each.
    `gains`: on the scale `there`, the NDCG of the list of 20 of each user with held-out items.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    errors: list[float] = field(default_factory=list[float])
    gains: list[float] = field(default_factory=list[float])
    interrupted: bool = False
    notes: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: "FleetOutcome") -> None:
        """Add the outcome of another part of the fleet."""
        self.counts.update(other.counts)
        self.errors += other.errors
        self.gains += other.gains
        self.notes.update(other.notes)

    @property
    def rmse(self) -> float:
        """Root mean square error, in units of the scale; NaN without predictions."""
        return rmse(np.asarray(self.errors), np.zeros(1)) if self.errors else float("nan")

    @property
    def ndcg(self) -> float:
        """Mean NDCG@20 (`tacit.metrics.lists`); NaN without lists."""
        return float(np.mean(self.gains)) if self.gains else float("nan")


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Devices against the collector at `url`, `threads` of them at a time.

    `most_epsilon` (per answer) and `lifetime`: nats, decimal strings, the same for all devices.
    `insecure`: whether http to another machine is allowed. `stopped`: set by an interrupt, after
    which no device retries.
    """

    url: str
    most_epsilon: str
    lifetime: str
    token: str | None = None
    insecure: bool = False
    threads: int = 8
    stopped: Event = field(default_factory=Event, repr=False)

    def report(
        self,
        ratings: Ratings,
        devices: int,
        progress: Progress = lambda label, done, total: None,
    ) -> FleetOutcome:
        """Simulate `devices` devices, each of which rates its user's items and syncs.

        More devices than users of `ratings` repeat the users in order. After an interrupt the
        outcome so far is returned. Raises `RequestError` for ratings on another scale than the
        task's or about none of its items, and the errors of a device.
        """
        self._check(ratings)
        home = _profiles(ratings)
        return self._all(devices, ratings.n_users, lambda who: self._report(home(who)), progress)

    def score(
        self,
        known: Ratings,
        held_out: Ratings,
        devices: int,
        progress: Progress = lambda label, done, total: None,
    ) -> FleetOutcome:
        """Simulate `devices` devices that report nothing, and score the published model on them.

        Each device fetches the model and predicts the `held_out` ratings of its user from the
        `known` ones. On the scale `there` it recommends a list, which is scored by the held-out
        items. Both tables have the same vocabularies. Interrupts and errors are those of `report`.
        """
        self._check(known)
        home, away = _profiles(known), _profiles(held_out)
        guess = self._list if held_out.scale.has_one_level else self._predict
        return self._all(devices, known.n_users, lambda who: guess(home(who), away(who)), progress)

    def _report(self, mine: Profile) -> FleetOutcome:
        with self._open() as me:
            tally = _rate_all(me, mine)
            if tally.counts["unreached"]:
                return tally
            try:
                outcomes = list(self._syncs(me))
            except BudgetError:
                return FleetOutcome(tally.counts + Counter(refused=1))
        tally.counts["stored"] = sum(outcome.stored for outcome in outcomes)
        tally.notes.update({note for outcome in outcomes for note in outcome.notes})
        tally.counts["given up"] = sum(outcome.given_up for outcome in outcomes)
        tally.counts["waiting"] = outcomes[-1].waiting
        tally.counts["refused"] = int(outcomes[-1].refusal is not None)
        return tally

    def _predict(self, mine: Profile, held_out: Profile) -> FleetOutcome:
        with self._open() as me:
            tally = _rate_all(me, mine)
            if tally.counts["unreached"]:
                return tally
            me.fetch_model()
            profile = me.profile()
            wanted = _in_task(me, held_out)
        tally.errors = [profile.predict(item) - float(rating) for item, rating in wanted.items()]
        return tally

    def _list(self, mine: Profile, held_out: Profile) -> FleetOutcome:
        with self._open() as me:
            tally = _rate_all(me, mine)
            if tally.counts["unreached"]:
                return tally
            me.fetch_model()
            places = {str(item): place for place, item in enumerate(me.task.items)}
            shown = [places[str(item)] for item, _ in me.recommend(LENGTH)]
            wanted = [places[str(item)] for item in _in_task(me, held_out)]
        # Top-N metrics exclude users without items.
        tally.gains = [_ndcg(shown, wanted, len(places))] if wanted and mine else []
        return tally

    def _syncs(self, me: Client) -> Iterator[SyncOutcome]:
        """Sync until no report waits, for at most `ATTEMPTS` syncs."""
        for _ in range(ATTEMPTS):
            outcome = me.sync()
            yield outcome
            if not outcome.waiting or outcome.again is None:
                return
            pause = max(0.0, outcome.again - time.time())
            if pause > PATIENCE or self.stopped.wait(pause):
                return

    def _open(self) -> Client:
        return Client(
            MEMORY,
            self.url,
            most_epsilon=self.most_epsilon,
            lifetime=self.lifetime,
            token=self.token,
            insecure=self.insecure,
            random_share=lambda: some_share() / SPEEDUP,
        )

    def _check(self, ratings: Ratings) -> None:
        with self._open() as first:
            try:
                task = first.task
            except RequestError as error:
                raise RequestError(self._unreached() or str(error)) from None
        if task.scale != ratings.scale:
            raise RequestError(
                f"The task has the scale {task.scale}, and {ratings.name} has {ratings.scale}; use "
                "ratings on the task's scale."
            )
        if not {str(item) for item in task.items} & {str(item) for item in ratings.item_ids.ids}:
            raise RequestError(
                f"No item of {ratings.name} is in the task's catalogue; use the same ids."
            )

    def _unreached(self) -> str | None:
        """Return why the collector does not answer; None if it does."""
        transport = Http(self.url, self.token, insecure=self.insecure)
        answer = transport("GET", "/healthz")
        transport.close()
        if answer is not None:
            return None
        return f"The collector at {self.url} cannot be reached: {transport.failure}."

    def _all(
        self, devices: int, people: int, play: Callable[[int], FleetOutcome], progress: Progress
    ) -> FleetOutcome:
        tally, turns = FleetOutcome(), (number % people for number in range(devices))
        with ThreadPoolExecutor(self.threads) as pool:
            running = {pool.submit(play, who) for who in islice(turns, 2 * self.threads)}
            try:
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    running |= {pool.submit(play, who) for who in islice(turns, len(done))}
                    for device in done:
                        tally.add(device.result())
                    progress("", tally.counts["devices"], devices)
            except KeyboardInterrupt:
                self.stopped.set()
                tally.interrupted = True
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        return tally


def _profiles(ratings: Ratings) -> Callable[[int], Profile]:
    """Return a function from a user's code to their ratings, as decimals by raw item id."""
    order = np.argsort(ratings.users, kind="stable")
    starts = np.searchsorted(ratings.users[order], np.arange(ratings.n_users + 1))
    items: list[Item] = ratings.item_ids.ids.to_list()
    levels = [shortest(level) for level in ratings.scale.levels]

    def of(code: int) -> Profile:
        rows = order[starts[code] : starts[code + 1]]
        return {items[ratings.items[row]]: levels[ratings.levels[row]] for row in rows}

    return of


def _ndcg(shown: Sequence[int], wanted: Sequence[int], places: int) -> float:
    """Return the NDCG of one list, given the held-out items of its user."""
    mine, held = np.array([shown], np.int32), np.array(wanted, np.int32)
    return list_figures(mine, np.zeros_like(held), held, np.zeros(places)).ndcg


def _in_task(me: Client, ratings: Profile) -> Profile:
    """Return the ratings of items in the task."""
    items = {str(item) for item in me.task.items}
    return {item: rating for item, rating in ratings.items() if str(item) in items}


def _rate_all(me: Client, mine: Profile) -> FleetOutcome:
    """Rate the items of the task on the device, without a report."""
    tally = FleetOutcome(Counter(devices=1))
    try:
        known = _in_task(me, mine)
    except RequestError:
        tally.counts["unreached"] = 1
        return tally
    for item, rating in known.items():
        me.rate(item, rating)
    tally.counts.update({"ratings": len(known), "not asked": len(mine) - len(known)})
    return tally
