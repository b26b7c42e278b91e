"""The scale `there`: every member of every registry works on it, or says why it does not."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from tacit import fit
from tacit.channels import (
    MECHANISMS,
    choose_channel,
    compile_channel,
    fisher_information,
    threshold_mix,
)
from tacit.channels.table import Channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue, Rated, Sample
from tacit.device.client import Client
from tacit.device.transport import Answer
from tacit.errors import DataError, RequestError
from tacit.metrics.accuracy import relevant_from
from tacit.models import MODELS
from tacit.readers.synthetic import synthetic
from tacit.scale import THERE, RatingScale
from tacit.training import TRAININGS
from tacit.wire import channel as wire_channel
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.task import Task

ONE = RatingScale.parse(THERE)
HIDING = ("randomized-response", "optimal")
STAR_MODELS = tuple(MODELS)


@pytest.fixture(scope="module")
def interactions():
    return synthetic(n_users=30, n_items=60, n_ratings=800, scale=THERE, rng=3)


def hiding(epsilon="1", name="randomized-response") -> Channel:
    return compile_channel(name, epsilon=epsilon, scale=ONE, missing=True)


def test_it_has_one_level_and_one_spelling():
    assert (ONE.levels, ONE.values, ONE.n_levels, str(ONE)) == ((Decimal(1),), (1.0,), 1, THERE)
    assert ONE.has_one_level
    assert not RatingScale.parse("0:1:1").has_one_level
    for text in ("1:1:1", "1.0:1:1"):
        with pytest.raises(RequestError, match="has one level; write there"):
            RatingScale.parse(text)
    for text in ("3:3:1", "1:1:2", "0:0:1", "There", "there:1:1", ""):
        with pytest.raises(RequestError, match=r"low:high:step"):
            RatingScale.parse(text)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("missing", [False, True])
def test_a_channel_hides_presence_or_says_there_is_nothing_to_hide(name, missing):
    """Zheng's first mechanism would add noise to stars, and the rest cannot say "missing"."""
    if missing and name in HIDING:
        assert hiding(name=name).levels == ONE.levels
        return
    with pytest.raises(RequestError, match=r"implicit .* catalogue or sample:K|no setting missing"):
        compile_channel(name, epsilon="1", scale=ONE, missing=missing)


def test_the_best_table_of_two_answers_is_randomized_response():
    """Kairouz, Oh and Viswanath: of two inputs the binary one is best for any purpose."""
    for epsilon in ("0.5", "1", "4"):
        best, plain = hiding(epsilon, "optimal"), hiding(epsilon)
        assert best.outputs == plain.outputs == (None, Decimal(1))
        assert max(abs(a - b) for a, b in zip(best.weights[1], plain.weights[1], strict=True)) < 16
        assert choose_channel(epsilon=epsilon, scale=ONE, missing=True) == (
            "randomized-response",
            plain,
        )
    with pytest.raises(RequestError, match="got implicit feedback"):
        threshold_mix(epsilon="1", scale=ONE)


def test_information_about_presence_is_that_of_its_share():
    """-E of the second derivative of the log-likelihood in the density, taken by differences."""
    rows = ((12, 4), (3, 13))  # unlike in their errors, so that inputs are not mixed up
    channel = Channel(ONE.levels, (None, Decimal(1)), rows, "2", missing=True, word_bits=4)
    density, step = 0.3, 1e-4
    missing, there = np.array(channel.likelihood)
    law = [d * there + (1 - d) * missing for d in (density - step, density, density + step)]
    bend = (np.log(law[0]) - 2 * np.log(law[1]) + np.log(law[2])) / step**2
    assert fisher_information(channel, density=density) == pytest.approx(-law[1] @ bend, rel=1e-5)


def test_a_channel_over_it_survives_the_wire():
    channel = hiding()
    assert wire_channel.loads(wire_channel.dumps(channel)) == channel
    two = replace(channel, levels=(Decimal(2),))
    with pytest.raises(RequestError, match="low:high:step"):
        wire_channel.dumps(two)


@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_who_did_what_is_told_truly_as_often_as_the_table_says(interactions, plan):
    channel = hiding("3")
    asked = Catalogue(channel) if plan == "catalogue" else Sample(channel, 20)
    reports = perturb(interactions, asked)
    pairs = np.zeros((30, 60), np.bool_)
    pairs[interactions.users, interactions.items] = True
    shown = reports.symbols == 1
    held = pairs[reports.users[shown], reports.items[shown]]
    slots = 1800 if plan == "catalogue" else 600
    truly = np.exp(3) / (1 + np.exp(3))
    rated = 800 if plan == "catalogue" else pairs[reports.users, reports.items].sum()
    # Six standard deviations: of the true ones that are reported, and of those made up.
    assert abs(held.sum() - truly * rated) < 6 * np.sqrt(rated * truly * (1 - truly))
    made_up = (slots - rated) * (1 - truly)
    assert abs((~held).sum() - made_up) < 6 * np.sqrt(made_up)
    assert reports.guarantee.unit == "slot"


def test_the_plan_rated_has_nothing_to_hide():
    alone = Channel(ONE.levels, (Decimal(1),), ((1 << 64,),), "1")
    for channel in (alone, hiding()):
        with pytest.raises(
            RequestError, match=r"the plan rated would protect nothing; .* sample:K"
        ):
            Rated(channel)


@pytest.mark.parametrize("name", STAR_MODELS)
def test_a_model_of_ratings_refuses_interactions(name, interactions):
    for data in (interactions, perturb(interactions, Catalogue(hiding()))):
        with pytest.raises(RequestError, match=r"got implicit feedback; .* such as 1:5:1"):
            fit(name, data)


@pytest.mark.parametrize(("name", "mode"), TRAININGS)
def test_a_training_on_ratings_refuses_interactions(name, mode, interactions):
    with pytest.raises(RequestError, match=r"got implicit feedback; .* such as 1:5:1"):
        fit(name, interactions, epsilon="1", mode=mode)


def test_the_relevance_of_a_rating_requires_stars():
    with pytest.raises(RequestError, match=r"got implicit feedback"):
        relevant_from(ONE)


def visits(**changes) -> Task:
    """A question about who went where."""
    known = {"name": "Visits", "items": (1, 2), "start": 0, "plan": "catalogue", "scale": ONE}
    return Task(**known | {"channels": (hiding(), hiding("2"))} | changes)


@pytest.mark.parametrize("provider", [None, "https://films.example"])
@pytest.mark.parametrize("plan", ["catalogue", "sample:1", "sample:9"])
def test_a_task_on_it_is_read_as_it_was_written(plan, provider):
    task = visits(plan=plan, provider=provider)
    assert b'"scale":"there"' in task.document
    assert loads(task.document, task.address) == task
    assert task.choose("1.5") == hiding()
    assert loads((task.predecessor or task).document).address == task.question


def test_a_task_that_would_show_everything_is_refused_with_a_sentence():
    """The page's refusals are among the tasks and the recipes of hostile documents."""
    stars = RatingScale.parse("1:5:1")
    bare = Channel(ONE.levels, (Decimal(1),), ((1 << 64,),), "1")
    five = compile_channel("randomized-response", epsilon="1", scale=stars, missing=True)
    shows = r"implicit feedback, the plan rated would protect nothing; use catalogue or sample:K"
    for channel in (bare, hiding()):
        with pytest.raises(RequestError, match=shows):
            visits(plan="rated", channels=(channel,))
    with pytest.raises(RequestError, match="the levels of a channel differ"):
        visits(channels=(five,))
    with pytest.raises(RequestError, match="require channels with missing"):
        visits(channels=(bare,))
    forged = visits().document.replace(b'"plan":"catalogue"', b'"plan":"rated"')
    with pytest.raises(DataError, match=f"task is malformed: .* {shows}"):
        loads(forged)


def test_a_person_says_that_it_is_there_or_not():
    def transport(method: str, path: str, body: bytes | None = None, longest: int = 0) -> Answer:
        return Answer(200, visits().document)

    terms = {"most_epsilon": "1", "lifetime": "9", "task": visits().address}
    with Client(":memory:", "https://films.example", transport=transport, **terms) as me:
        for said in (1, "1", "1.0", Decimal(1)):
            me.rate(2, said)
            assert me.ratings == {2: "1"}
            me.rate(2, None)
            assert me.ratings == {}
        for said in (0, 2, 5, "there", "missing", "-1", ""):
            with pytest.raises(RequestError, match=r"a rating must be 1 .* or None"):
                me.rate(1, said)
        assert me.ratings == {}
