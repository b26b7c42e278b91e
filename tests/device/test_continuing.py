"""One question in two formats is answered once; one task at two providers is two people's."""

from dataclasses import replace

import pytest
from fake_collector import FakeCollector

from tacit.errors import CertificateError, RequestError
from tacit.wire import report as pseudonym

FILMS, BOOKS = "https://films.example", "https://books.example"


def people(asks):
    return {report["person"] for report in asks.reports}


def person(mine, task):
    return pseudonym.person(mine._store.secret, task.address, task.provider)


@pytest.fixture
def asked(ask):
    """A question in both formats: as its provider asked it before, and as it does now."""

    def made(plan="rated", **changes):
        before = ask(plan, **changes)
        return before, replace(before, provider=FILMS)

    return made


@pytest.fixture
def words():
    """Counts what is drawn."""

    class Words(list):
        def __call__(self):
            self.append(0)
            return len(self) << 60

    return Words()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("plan", ["rated", "catalogue", "sample:3"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0, 1)])
def test_the_other_format_is_no_new_question(asked, device, clock, words, plan, order):
    """Whichever came first: one name, no second draw, ratings and last reports as they were."""
    formats = asked(plan)
    asks = FakeCollector(list(formats))
    mine = device(asks, words=words)
    for epoch, turn in enumerate(order):
        clock.epoch(epoch)
        asks.tasks = [formats[turn]]
        if epoch == 0:
            mine.sync()
            mine.rate(102, 4)
        mine.sync()
        cost = mine.ledger.spent
        assert mine.ratings == {102: "4"}
    drawn = len(words)
    clock.epoch(len(order))
    mine.rate(102, 5)
    mine.sync()
    assert mine.ledger.spent - cost <= 10**9
    assert len(words) - drawn <= 1
    assert people(asks) == {person(mine, formats[order[0]])}
    assert asks.conflicts() == []
    assert len(mine.export()["tasks"]) == 1


def test_ratings_go_along_with_a_question_that_nothing_was_told_about(asked, device):
    """Names are made for the provider then: what is told can be erased."""
    before, now = asked()
    asks = FakeCollector([before])
    mine = device(asks)
    mine.rate(100, 4)
    asks.tasks = [now]
    mine.sync()
    assert mine.ratings == {100: "4"}
    assert people(asks) == {person(mine, now)}


def test_a_question_goes_back_to_the_old_format_while_nothing_was_told(asked, device):
    before, now = asked()
    asks = FakeCollector([now])
    mine = device(asks)
    mine.rate(100, 4)
    asks.tasks = [before]
    mine.sync()
    assert people(asks) == {person(mine, before)}


@pytest.mark.parametrize("url", [FILMS, "HTTPS://FILMS.example:443/", FILMS + "/films/"])
def test_a_provider_is_its_origin_however_it_is_spelled(asked, device, url):
    before, now = asked()
    asks = FakeCollector([before])
    mine = device(asks, path=":memory:", url=url)
    mine.rate(100, 4)
    mine.sync()
    asks.tasks = [now]
    mine.rate(101, 4)
    mine.sync()
    assert people(asks) == {person(mine, before)}


def test_a_store_follows_its_provider_to_another_spelling_and_another_path(
    asked, device, clock, tmp_path
):
    before, now = asked()
    asks = FakeCollector([before])
    for epoch, url in enumerate([FILMS, "https://FILMS.example/", FILMS + "/films"]):
        clock.epoch(epoch)
        with device(asks, tmp_path / "me.db", url=url) as mine:
            mine.rate(100 + epoch, 4)
            mine.sync()
            asks.tasks = [now]
            assert len(mine.export()["tasks"]) == 1
            assert len(people(asks)) == 1


@pytest.mark.parametrize(
    "url",
    [BOOKS, "https://films.example:8443", "http://films.example", "https://www.films.example"],
)
def test_a_task_of_another_provider_is_refused_before_any_draw(asked, device, words, url):
    _, now = asked()
    asks = FakeCollector([now])
    with pytest.raises(CertificateError, match="but the task was received from"):
        device(asks, url=url, words=words)
    assert (words, asks.uploads) == ([], [])


def test_what_names_no_provider_belongs_to_the_first_one(asked, device, clock, tmp_path):
    """Two providers that ask the same would see one name, and know that it is one person."""
    before, now = asked()
    films, books = FakeCollector([before]), FakeCollector([before])
    with device(films, tmp_path / "me.db") as mine:
        mine.rate(100, 4)
        mine.sync()
    with pytest.raises(RequestError, match="another provider has sent it before"):
        device(books, tmp_path / "me.db", url=BOOKS)
    books.tasks = [replace(now, provider=BOOKS)]
    with device(books, tmp_path / "me.db", url=BOOKS) as mine:
        mine.rate(100, 4)
        mine.sync()
    assert len(people(films) | people(books)) == 2
    assert {report["id"] for report in films.reports}.isdisjoint(
        report["id"] for report in books.reports
    )


def test_two_providers_of_one_question_are_two_questions(asked, device, clock, tmp_path):
    _, now = asked("sample:3")
    spent = []
    for url in (FILMS, BOOKS, FILMS):
        asks = FakeCollector([replace(now, provider=url)])
        with device(asks, tmp_path / "me.db", url=url) as mine:
            mine.sync()
            spent.append(mine.ledger.spent)
    assert spent == [3 * 10**9, 6 * 10**9, 6 * 10**9]


def test_a_provider_that_named_itself_keeps_the_old_format_free_for_another(
    asked, device, tmp_path
):
    """Names that were made for one provider are not those of the task without one."""
    before, now = asked()
    with device(FakeCollector([now]), tmp_path / "me.db") as mine:
        mine.rate(100, 4)
        mine.sync()
    books = FakeCollector([before])
    with device(books, tmp_path / "me.db", url=BOOKS) as mine:
        mine.rate(100, 4)
        mine.sync()
        assert people(books) == {person(mine, before)}


def test_a_pinned_task_is_known_by_its_other_format(asked, device, tmp_path):
    before, now = asked()
    asks = FakeCollector([before])
    with device(asks, tmp_path / "me.db") as mine:
        mine.rate(100, 4)
        mine.sync()
    asks.tasks = [now]
    with device(asks, tmp_path / "me.db") as mine:
        mine.sync()
    asks.asked.clear()
    with device(asks, tmp_path / "me.db", task=before.address) as mine:
        assert (mine.task, mine.ratings, asks.asked) == (before, {100: "4"}, [])
        mine.rate(101, 4)
        assert mine.sync().stored == 1  # under the address that the collector has
        assert asks.conflicts() == []


def test_what_waits_for_a_task_that_is_gone_is_sent_to_its_successor(asked, device, clock, ask):
    before, now = asked()
    asks = FakeCollector([before])
    mine = device(asks)
    mine.rate(100, 4)
    asks.script, asks.stores = [None], False
    mine.sync()
    waiting = mine._store.db.execute("SELECT document FROM report").fetchall()
    asks.tasks = [ask(name="Books", provider=FILMS), now]
    clock.epoch(3)
    assert mine.sync().stored == 1
    assert [text.encode() for (text,) in asks.payloads.values()] == [text for (text,) in waiting]


def test_a_model_of_the_question_is_kept_when_the_format_changes(asked, device):
    before, now = asked()
    asks = FakeCollector([before])
    mine = device(asks)
    mine._provider.keep_model("ab" * 32, b"a model")
    asks.tasks = [now]
    mine.sync()
    assert mine._provider.model == ("ab" * 32, b"a model")
