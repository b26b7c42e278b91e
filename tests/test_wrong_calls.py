"""Calls that cannot be met, beside those of `compare` and `recommend`: each gets its sentence."""

# Sentences stand on a line each, as they are said.
# ruff: noqa: E501

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit import (
    Catalogue,
    Client,
    Fitted,
    Guarantee,
    ItemModel,
    ListModel,
    ListProfile,
    Profile,
    Rated,
    RatingScale,
    RequestError,
    Sample,
    TacitError,
    as_ratings,
    at_home,
    choose,
    compare,
    compile_channel,
    fit,
    from_frame,
    item_model,
    perturb,
    read,
    synthetic,
)
from tacit.audit.attacks import attack
from tacit.audit.attacks.world import World
from tacit.audit.one_run import one_run
from tacit.channels import fisher_information
from tacit.engines.local import Local
from tacit.models import evidence, interactions, list_model
from tacit.plugins import register
from tacit.readers import titles
from tacit.training import train

MADE = synthetic(60, 50, 1200)
FRAME = MADE.to_polars().select("user", "item", "rating")
CHANNEL = compile_channel("randomized-response", epsilon=1, scale="1:5:1")
HIDING = compile_channel("randomized-response", epsilon=1, scale="1:5:1", missing=True)
REPORTS = perturb(MADE, Rated(CHANNEL))
BIAS = fit("bias", MADE)
LISTS = fit("popularity", synthetic(60, 50, 1200, scale="there"))
MODEL = item_model(BIAS)
PROMISE = BIAS.guarantee.to_dict()
URL = "https://films.example"
NO_SCALE = "The rating scale '{}' is not of the form low:high:step, such as 1:5:1."
NO_RATINGS = re.compile("A .* holds no ratings; give a path, a polars or pandas frame, an Arrow ")

WRONG = [
    # Scales and channels
    (lambda: RatingScale.parse(5), NO_SCALE.format(5)),
    (lambda: compile_channel("duchi", epsilon=1, scale=None), NO_SCALE.format(None)),
    (lambda: compile_channel("duchi", epsilon=1, scale=(1, 5, 1)), NO_SCALE.format("(1, 5, 1)")),
    (lambda: compile_channel("duchy", epsilon=1, scale="1:5:1"), re.compile("No channel is called 'duchy'; ask for one of ")),
    (lambda: compile_channel("duchi", epsilon=None, scale="1:5:1"), "None is not an epsilon; give a positive decimal, as in 0.5."),
    (lambda: compile_channel("duchi", epsilon=99, scale="1:5:1"), "Epsilon must be above 0 and at most 16, got 99; without privacy use the channel 'identity'."),
    (lambda: compile_channel("duchi", epsilon=1, scale="1:5:1", hue=3), "The channel duchi has no setting hue; leave it out."),
    (lambda: choose(epsilon=1, scale=5), NO_SCALE.format(5)),
    (lambda: RatingScale(1, 5, 1), "A int is no exact decimal; write RatingScale.parse('1:5:1')."),
    (lambda: RatingScale(Decimal(1), Decimal(5), 0.5), "A float is no exact decimal; write RatingScale.parse('1:5:1')."),
    (lambda: fisher_information("duchi"), "A str is no channel; give what `compile_channel` makes."),
    # Guarantees
    (lambda: Guarantee.from_dict({}), "This guarantee has no 'epsilon'; give what `to_dict` made."),
    (lambda: Guarantee.from_dict(PROMISE | {"hue": 3}), "This guarantee has an unknown 'hue'; give what `to_dict` made."),
    (lambda: Guarantee.from_dict("epsilon"), "A str is no guarantee; give what `to_dict` made."),
    (lambda: Guarantee.from_dict(PROMISE | {"unit": "star"}), "There is no unit 'star'; choose from none, value, slot, user."),
    (lambda: Guarantee(epsilon="1", unit="value", trust="me", released="it"), "There is no trust 'me'; choose from nobody, curator, everybody."),
    # Plans and reports
    (lambda: Rated("duchi"), "A str is no channel; give what `compile_channel` makes."),
    (lambda: Rated([CHANNEL, 3]), "A int is no channel; give what `compile_channel` makes."),
    (lambda: Rated(None), "A NoneType is no channel; give what `compile_channel` makes."),
    (lambda: Catalogue(3), "A int is no channel; give what `compile_channel` makes."),
    (lambda: MADE.where([True]), "A mask of shape (1,) is not one of 1200 rows; give each row its own."),
    (lambda: REPORTS.where("all"), "A mask of shape () is not one of 1200 rows; give each row its own."),
    (lambda: Rated(CHANNEL, cap="3"), "The cap '3' is no whole number; give one."),
    (lambda: Rated(CHANNEL, cap=2.5), "The cap 2.5 is no whole number; give one."),
    (lambda: Catalogue(HIDING, cap=True), "The cap True is no whole number; give one."),
    (lambda: Sample(HIDING, "5"), "The number of slots '5' is no whole number; give one."),
    (lambda: perturb(MADE, "rated"), "'rated' is no plan; give one such as Rated(channel)."),
    (lambda: perturb(FRAME, CHANNEL), f"{CHANNEL!r} is no plan; give one such as Rated(channel)."),
    (lambda: perturb(REPORTS, Rated(CHANNEL)), NO_RATINGS),
    # Models and trainings
    (lambda: fit("biass", MADE), re.compile("There is no model 'biass'; choose one of ")),
    (lambda: fit("bias", 3), NO_RATINGS),
    (lambda: fit("bias", FRAME, scale=7), NO_SCALE.format(7)),
    (lambda: fit("bias", MADE, scale="1:9:1"), "These are Ratings already, on the scale 1:5:1; leave out scale."),
    (lambda: fit("bias", REPORTS, scale="1:9:1"), "These reports are on the scale 1:5:1; leave out 1:9:1."),
    (lambda: fit("bias", MADE, factors=3), "Model bias has no setting 'factors'; it has items, people, engine, state."),
    (lambda: fit("mf", MADE, factors="3"), "The model mf's setting factors '3' is no whole number; give one."),
    (lambda: fit("mf", MADE, factors=-1), "The model mf's setting factors -1 is below 0; give 0 or more."),
    (lambda: fit("channel-mf", REPORTS, factors=2.5), "The model channel-mf's setting factors 2.5 is no whole number; give one."),
    (lambda: fit("mf", MADE, rng=-1), "The rng -1 is below 0; give 0 or more."),
    (lambda: train("dp-bias", MADE, epsilon=1, rng="a"), "The rng 'a' is no whole number; give one."),
    (lambda: train("dp-bias", MADE, epsilon=1, mode="lax"), "There is no mode 'lax'; choose strict or faithful."),
    (lambda: train("dp-bias", REPORTS, epsilon=1), NO_RATINGS),
    (lambda: BIAS.save("nowhere/model"), "nowhere/model cannot be written (No such file or directory); name a file in a folder that exists."),
    (lambda: BIAS.save(3), "3 is no path; give one as text, as in 'ratings.csv'."),
    (lambda: fit("channel-mf", REPORTS, item_table="items.csv"), "A str is no table of items; give what `item_table` reads, a polars frame."),
    (lambda: evidence(3), "A int is no evidence; give `Ratings`, or `Reports`, as `perturb` makes."),
    (lambda: interactions(None), "A NoneType is no evidence; give `Ratings`, or `Reports`, as `perturb` makes."),
    (lambda: list_model(BIAS), "A Fitted is no model of lists; give what `fit` returns for one, as for 'ease'."),
    (lambda: LISTS.lists(FRAME, 5), "A DataFrame is no `Ratings`; give those of the model's people."),
    (lambda: at_home(MODEL, MADE), "A ItemModel is no model of ratings; give what `fit` returns."),
    (lambda: register("models", 3, BIAS), "A int is no name; write it as text, as users will."),
    (lambda: Fitted.load(3), "3 is not a saved model; make one with `tacit fit`."),
    (lambda: item_model(LISTS), "A FittedLists is no model of ratings; give what `fit` returns, or take `list_model`."),
    (lambda: at_home(BIAS, FRAME), "A DataFrame is no `Ratings`; give those of the model's people."),
    # Devices
    (lambda: Profile(BIAS, {1: 5}), "A Fitted is no item model; give what `item_model` makes, which is published."),
    (lambda: Profile(MODEL, [1, 2]), "A list is no mapping; give ratings by their items, as in {1: 5}."),
    (lambda: Profile(MODEL, {1: 5}).recommend(-1), "The number of items -1 is below 0; give 0 or more."),
    (lambda: Profile(MODEL, {1: 5}).recommend("3"), "The number of items '3' is no whole number; give one."),
    (lambda: ListProfile(MODEL, [1]), "A ItemModel is no list model; give what `list_model` makes, which is published."),
    (lambda: ItemModel.from_bytes(b"abc"), "This is no item model: it begins with b'abc'."),
    (lambda: ItemModel.from_bytes("abc"), "A str is no item model's bytes; give what `to_bytes` makes."),
    (lambda: ListModel.from_bytes(None), "A NoneType is no list model's bytes; give what `to_bytes` makes."),
    (lambda: ListProfile(list_model(LISTS), 3), "A int is no list of items; give ids, as in [3, 7]."),
    (lambda: ListProfile(list_model(LISTS), "37"), "A str is no list of items; give ids, as in [3, 7]."),
    (lambda: Client("a.db", URL, most_epsilon=2, lifetime="50"), "A int is no epsilon of a device; write it as text, as in '0.5'."),
    (lambda: Client("a.db", 4, most_epsilon="2", lifetime="50"), "A int is no address; write it as text, as in 'https://films.example'."),
    (lambda: Client("a.db", URL, most_epsilon="2", lifetime="50", task=3), "A int is no address of a task; write it as text: 64 hexadecimal digits."),
    # Readers
    (lambda: read(3), "3 is no path; give one as text, as in 'ratings.csv'."),
    (lambda: titles(3), "3 is no path; give one as text, as in 'ratings.csv'."),
    (lambda: from_frame([1, 2]), "A list is no frame; give one of polars or pandas, or see `tacit.as_ratings`, which takes paths and arrays, too."),
    (lambda: from_frame(FRAME, scale=3), NO_SCALE.format(3)),
    (lambda: from_frame(FRAME, columns="user=who"), "A str is no mapping; name columns as in {'user': 'member'}."),
    (lambda: from_frame(FRAME, columns={"user": 3}), "A int is no name; say in text which column holds the user."),
    (lambda: from_frame(FRAME, columns={"user": "item"}), "The column 'item' cannot be two of user, item, rating, timestamp; name another for one of them."),
    (lambda: from_frame(FRAME, catalogue=3), "A int is no list of ids; give the catalogue as one."),
    (lambda: MADE.with_people("abc"), "'abc' is no list of ids; give the list of people as one."),
    (lambda: as_ratings(np.array([[1, 2, 3]])), NO_RATINGS),
    (lambda: as_ratings((1, 2, 3)), re.compile("The columns cannot be read .*; give a path, ")),
    (lambda: as_ratings(pd.DataFrame({"user": ["a", 1, None], "item": [1, 2, 3], "rating": [1, 2, 3]})), "frame: column 'user' mixes types (NoneType, int, str); convert it to one type."),
    (lambda: as_ratings(pd.DataFrame({"user": [1, 2], "item": [1, 2], "rating": [1, "x"]})), "frame: column 'rating' mixes types (int, str); convert it to one type."),
    (lambda: as_ratings(FRAME.with_columns(rating=pl.lit("x"))), "frame: column 'rating' is String; it needs to be numbers."),
    (lambda: synthetic("10"), "The number of people '10' is no whole number; give one."),
    (lambda: synthetic(60, 50.5), "The number of items 50.5 is no whole number; give one."),
    (lambda: synthetic(60, 50, rng="x"), "The rng 'x' is no whole number; give one."),
    (lambda: synthetic(60, 50, fewest="2"), "The fewest ratings a person '2' is no whole number; give one."),
    (lambda: as_ratings(FRAME, held_out=3), "A int is no name; say in text which column is held out."),
    # Comparisons and attacks
    (lambda: compare(MADE, model="mf"), "compare has no option 'model'; did you mean models?"),
    (lambda: compare(MADE, models="mf", epsilon=1), "compare has no option 'epsilon'; did you mean epsilons?"),
    (lambda: compare(MADE, models="mf", catalog=[1]), "compare has no option 'catalog'; did you mean catalogue?"),
    (lambda: compare(MADE, models="mf", held_out="x"), re.compile("compare has no option 'held_out'; it has channels, models, .*, split, .*, scale, .*, notify\\.$")),
    (lambda: one_run(fit, FRAME, "value", seed=1), "A DataFrame is no `Ratings`; give the training's, before the canaries are in."),
    (lambda: compare(MADE, models="mf", relevant="x"), "The relevant rating 'x' is no number; give one such as 4."),
    (lambda: compare(MADE, models="mf", relevant=99), "No rating of the scale 1:5:1 tells relevant items from others at 99; give one from 1 to 5."),
    (lambda: compare(MADE, models="mf", relevant=0.5), "No rating of the scale 1:5:1 tells relevant items from others at 0.5; give one from 1 to 5."),
    (lambda: compare(MADE, models="mf", factors=-3), "The number of factors -3 is below 0; give 0 or more."),
    (lambda: compare(MADE, models="mf", path=3), "3 is no path; give one as text, as in 'ratings.csv'."),
    (lambda: compare(MADE, models="mf", engine="spark"), "'spark' is no engine; give one, as Local(blocks=4) or Spark('local[2]')."),
    (lambda: compare(MADE, models="ease,mf", engine=Local()), "Devices with ease are simulated in this process alone; leave out the engine, or choose models that predict ratings."),
    (lambda: compare(synthetic(60, 50, 1200, scale="there"), engine=Local()), re.compile("Devices with ease are simulated in this process alone; ")),
    (lambda: attack("linkage", known=3), "The setting known of attack linkage is 3; give several, as in (2, 4, 8, 20)."),
    (lambda: World.through(MADE, "rated", 0), "'rated' is no plan; give one such as Rated(channel)."),
    (lambda: World.unprotected(FRAME, "rated", 0, scale=3), NO_SCALE.format(3)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_each_mistake_gets_its_sentence(number):
    call, sentence = WRONG[number]
    with pytest.raises(TacitError) as raised:
        call()
    said = str(raised.value)
    assert said == sentence if isinstance(sentence, str) else sentence.match(said), said


def test_what_is_right_is_left_alone():
    assert fit("mf", MADE, factors=np.int64(2)).items.shape[2] == 3
    assert len(Profile(MODEL, {1: 5}).recommend(np.int64(2))) == 2
    assert attack("linkage", known=[2]).known == [2]
    with pytest.raises(RequestError, match="A cap of 0"):
        Rated(CHANNEL, cap=0)
