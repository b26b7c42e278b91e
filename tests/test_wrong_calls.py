"""Calls that cannot be met, beside those of `compare` and `recommend`: each gets its sentence."""

# Sentences stand on a line each, as they are said.
# ruff: noqa: E501

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

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
    choose_channel,
    compare,
    compile_channel,
    evaluate,
    fit,
    fold_in,
    from_frame,
    item_model,
    load,
    perturb,
    read,
    synthetic,
)
from tacit.audit.attacks import attack
from tacit.audit.attacks.world import World
from tacit.audit.one_run import one_run
from tacit.channels import fisher_information
from tacit.engines.engine import Local
from tacit.models import MF, evidence, interactions, list_model
from tacit.plugins import register
from tacit.readers import titles

MADE = synthetic(60, 50, 1200)
FRAME = MADE.to_polars().select("user", "item", "rating")
CHANNEL = compile_channel("randomized-response", epsilon=1, scale="1:5:1")
HIDING = compile_channel("randomized-response", epsilon=1, scale="1:5:1", missing=True)
CLICKS = synthetic(60, 50, 1200, scale="there")
REPORTS = perturb(MADE, Rated(CHANNEL))
BIAS = fit("bias", MADE)
LISTS = fit("popularity", CLICKS)
MODEL = item_model(BIAS)
PROMISE = BIAS.guarantee.to_dict()
URL = "https://films.example"


class Splitter:
    """As in scikit-learn."""

    def split(self, rows):
        yield [0], [1]


USERS = pd.DataFrame({"user": [1, 2]})
IDS = "Ids must be a list of integers or strings, as in the ratings, got {}."
NO_ID = "An item id must be an integer or a string, got {}; use the ids of the model's catalogue."
OFF_SCALE = "A rating is not on the model's scale 1:5:1."
CHANNELS = "channel_of_person must have one channel index, from 0 to 1, for each of the 60 users: all slots of a user must use the same channel."
NO_ENGINE = "engine must be an engine such as Local(blocks=4) or Spark('local[2]'), got 'spark'."
ITEM_TABLE = "Expected an item table, got {}; pass the polars frame that `item_table` returns, or polars.from_pandas(table)."
NO_SCALE = "The rating scale '{}' is not of the form low:high:step, such as 1:5:1."
NO_RATINGS = re.compile(
    "data must be a path, a polars or pandas frame, an Arrow .*, or Ratings, got "
)

WRONG = [
    # Scales and channels
    (lambda: RatingScale.parse(5), NO_SCALE.format(5)),
    (lambda: compile_channel("duchi", epsilon=1, scale=None), NO_SCALE.format(None)),
    (lambda: compile_channel("duchi", epsilon=1, scale=(1, 5, 1)), NO_SCALE.format("(1, 5, 1)")),
    (lambda: compile_channel("duchy", epsilon=1, scale="1:5:1"), re.compile("channel must be one of .*, got 'duchy'.$")),
    (lambda: compile_channel("duchi", epsilon=None, scale="1:5:1"), "epsilon must be a positive decimal, as in 0.5, got None."),
    (lambda: compile_channel("duchi", epsilon=99, scale="1:5:1"), "Epsilon must be above 0 and at most 16, got 99; for no privacy, use the channel 'identity'."),
    (lambda: compile_channel("duchi", epsilon=1, scale="1:5:1", hue=3), "The channel duchi has no setting hue; leave it out."),
    (lambda: choose_channel(epsilon=1, scale=5), NO_SCALE.format(5)),
    (lambda: RatingScale(1, 5, 1), "Expected exact decimals, got int; write RatingScale.parse('1:5:1')."),
    (lambda: RatingScale(Decimal(1), Decimal(5), 0.5), "Expected exact decimals, got float; write RatingScale.parse('1:5:1')."),
    (lambda: fisher_information("duchi"), "Expected a channel, got str; pass what `compile_channel` returns."),
    # Guarantees
    (lambda: Guarantee.from_dict({}), "This guarantee has no 'epsilon'; pass the result of `to_dict`."),
    (lambda: Guarantee.from_dict(PROMISE | {"hue": 3}), "This guarantee has an unknown 'hue'; pass the result of `to_dict`."),
    (lambda: Guarantee.from_dict("epsilon"), "Expected a guarantee, got str; pass the result of `to_dict`."),
    (lambda: Guarantee.from_dict(PROMISE | {"unit": "star"}), "unit must be one of none, value, slot, user, got 'star'."),
    (lambda: Guarantee(epsilon="1", unit="value", trust="me", released="it"), "trust must be one of nobody, shuffler, curator, everybody, got 'me'."),
    # Plans and reports
    (lambda: Rated("duchi"), "Expected a channel, got str; pass what `compile_channel` returns."),
    (lambda: Rated([CHANNEL, 3]), "Expected a channel, got int; pass what `compile_channel` returns."),
    (lambda: Rated(None), "Expected a channel, got NoneType; pass what `compile_channel` returns."),
    (lambda: Catalogue(3), "Expected a channel, got int; pass what `compile_channel` returns."),
    (lambda: MADE.where([True]), "The mask must have one entry per row, shape (1200,), got shape (1,)."),
    (lambda: REPORTS.where("all"), "The mask must have one entry per row, shape (1200,), got shape ()."),
    (lambda: Rated(CHANNEL, cap="3"), "cap must be an integer, got '3'."),
    (lambda: Rated(CHANNEL, cap=2.5), "cap must be an integer, got 2.5."),
    (lambda: Catalogue(HIDING, cap=True), "cap must be an integer, got True."),
    (lambda: Sample(HIDING, "5"), "slots must be an integer, got '5'."),
    (lambda: perturb(MADE, "rated"), "plan must be a plan such as Rated(channel), got 'rated'."),
    (lambda: perturb(FRAME, CHANNEL), "plan must be a plan such as Rated(channel), got Channel."),
    (lambda: perturb(REPORTS, Rated(CHANNEL)), NO_RATINGS),
    (lambda: perturb(MADE, Rated), "plan must be a plan such as Rated(channel), got the class Rated."),
    (lambda: perturb(MADE, Rated([CHANNEL, CHANNEL]), channel_of_person=np.full(60, -1)), CHANNELS),
    (lambda: perturb(MADE, Rated([CHANNEL, CHANNEL]), channel_of_person=np.full(60, 0.5)), CHANNELS),
    (lambda: perturb(MADE, Rated([CHANNEL, CHANNEL]), channel_of_person=[0]), CHANNELS),
    (lambda: perturb(MADE, Sample([HIDING, HIDING], 5), channel_of_person=np.full(60, 2)), CHANNELS),
    # Models and trainings
    (lambda: fit(MF(factors=3), REPORTS), "Expected the name of a model or trainer, got MF; pass its name first, and settings as options, as in fit('mf', data, factors=8)."),
    (lambda: fit(REPORTS, "mf"), "Expected the name of a model or trainer, got Reports; pass its name first, and settings as options, as in fit('mf', data, factors=8)."),
    (lambda: fit("biass", MADE), re.compile("model must be one of .*, got 'biass'.$")),
    (lambda: fit("bias", 3), NO_RATINGS),
    (lambda: fit("bias", FRAME, scale=7), NO_SCALE.format(7)),
    (lambda: fit("bias", MADE, scale="1:9:1"), "data is already a Ratings object, on the scale 1:5:1; leave out scale."),
    (lambda: fit("bias", REPORTS, scale="1:9:1"), "scale must equal the scale of the reports, 1:5:1, got 1:9:1; leave it out."),
    (lambda: fit("bias", "nowhere.csv", factors=3), "Model bias has no setting 'factors'; it has items, people, engine, state."),
    (lambda: fit("mf", "nowhere.csv", factors=-1), "factors of model mf must be an integer of at least 0, got -1."),
    (lambda: fit("bias", MADE, factors=3), "Model bias has no setting 'factors'; it has items, people, engine, state."),
    (lambda: fit("mf", MADE, factors="3"), "factors of model mf must be an integer of at least 0, got '3'."),
    (lambda: fit("mf", MADE, factors=-1), "factors of model mf must be an integer of at least 0, got -1."),
    (lambda: fit("channel-mf", REPORTS, factors=2.5), "factors of model channel-mf must be an integer of at least 0, got 2.5."),
    (lambda: fit("mf", MADE, rng=-1), "rng must be an integer of at least 0, got -1."),
    (lambda: fit("dp-bias", MADE, epsilon=1, rng="a"), "rng must be an integer of at least 0, got 'a'."),
    (lambda: fit("dp-bias", MADE, epsilon=1, mode="lax"), "mode must be strict or faithful, got 'lax'."),
    (lambda: fit("dp-bias", REPORTS, epsilon=1), NO_RATINGS),
    (lambda: BIAS.save("nowhere/model"), "nowhere/model cannot be written (No such file or directory); name a file in an existing folder."),
    (lambda: BIAS.save(3), "The path must be a string or a Path, as in 'ratings.csv', got 3."),
    (lambda: fit("channel-mf", REPORTS, item_table="items.csv"), ITEM_TABLE.format("str")),
    (lambda: fit("channel-mf", REPORTS, item_table=USERS), ITEM_TABLE.format("DataFrame")),
    (lambda: fit("channel-mf", REPORTS, warm="model"), "A warm start of channel-mf requires a model of that kind, got 'model'; fit without warm."),
    (lambda: fit("mf", REPORTS, warm="model"), "A warm start of mf requires a model of that kind, got 'model'; fit without warm."),
    (lambda: fit("ease", REPORTS, warm="model"), "A warm start of ease requires a model of that kind, got 'model'; fit without warm."),
    (lambda: fit("mf", REPORTS, engine="spark", state="nowhere"), NO_ENGINE),
    (lambda: fit("mf", REPORTS, state=3), "The path must be a string or a Path, as in 'ratings.csv', got 3."),
    (lambda: fit("mf", REPORTS, state=__file__), f"{__file__} cannot hold checkpoints (File exists); name a folder as state (--state)."),
    (lambda: fit("bias", REPORTS, progress="yes"), "progress must be a boolean or a callback, got 'yes'."),
    (lambda: evidence(3), "Expected `Ratings` or `Reports`, got int; pass what `perturb` returns."),
    (lambda: interactions(None), "Expected `Ratings` or `Reports`, got NoneType; pass what `perturb` returns."),
    (lambda: list_model(BIAS), "Expected a list model, got Fitted; pass what `fit` returns for one, such as 'ease'."),
    (lambda: LISTS.lists(FRAME, 5), "Expected `Ratings`, got DataFrame; pass the ratings of the model's users."),
    (lambda: fold_in(MODEL, MADE), "Expected a rating model, got ItemModel; pass what `fit` returns."),
    (lambda: register("models", 3, BIAS), "Expected a name, got int; write it as a string."),
    (lambda: Fitted.load(3), "3 is not a saved model; create one with `tacit fit`."),
    (lambda: load("nowhere"), "nowhere cannot be read: No such file or directory; name a model file of `tacit fit`."),
    (lambda: load("/"), "/ cannot be read: Is a directory; name a model file of `tacit fit`."),
    (lambda: item_model(LISTS), "Expected a rating model, got FittedLists; pass what `fit` returns, or use `list_model`."),
    (lambda: fold_in(BIAS, FRAME), "Expected `Ratings`, got DataFrame; pass the ratings of the model's users."),
    # Tables in place of ids
    (lambda: BIAS.recommend(USERS, 2), IDS.format("DataFrame; pass one of its columns")),
    (lambda: BIAS.recommend(pl.from_pandas(USERS), 2), IDS.format("DataFrame; pass one of its columns")),
    (lambda: LISTS.recommend(USERS, 2), IDS.format("DataFrame; pass one of its columns")),
    (lambda: BIAS.recommend(1, 2, exclude=USERS), IDS.format("DataFrame; pass one of its columns")),
    (lambda: LISTS.recommend(1, 2, candidates=USERS), IDS.format("DataFrame; pass one of its columns")),
    (lambda: BIAS.predict(USERS, [1, 2]), IDS.format("DataFrame; pass one of its columns")),
    (lambda: from_frame(FRAME, catalogue=USERS), "Expected a list of ids, got DataFrame; pass the catalogue as in ['a', 'b']."),
    (lambda: MADE.with_people(pl.from_pandas(USERS)), "Expected a list of ids, got DataFrame; pass the list of users as in ['a', 'b']."),
    # Calls of fitted models
    (lambda: BIAS.explain(3, [1, 2]), "Expected a mapping, got list; pass ratings by item id, as in {1: 5}."),
    (lambda: BIAS.explain(3, {1: "five"}), OFF_SCALE),
    (lambda: BIAS.explain(3, {1: 500}), OFF_SCALE),
    (lambda: BIAS.with_exposure(5), "Expected an exposure, got int; pass what `exposure_of` returns."),
    (lambda: BIAS.recommend(1, 2, titles="nowhere.csv"), "titles applies to a list of users, as in recommend([1], titles=..)."),
    (lambda: LISTS.recommend(1, 2, titles="nowhere.csv"), "titles applies to a list of users, as in recommend([1], titles=..)."),
    (lambda: BIAS.recommend(1, 2.0), "n must be an integer of at least 1, got 2.0."),
    (lambda: LISTS.lists(CLICKS, "3"), "length must be an integer of at least 1, got '3'."),
    (lambda: LISTS.lists(CLICKS, 0), "length must be an integer of at least 1, got 0."),
    (lambda: evaluate(BIAS, FRAME, FRAME), "Expected `Ratings`, got DataFrame; pass what `as_ratings` returns."),
    (lambda: evaluate(BIAS, MADE, FRAME), "Expected `Ratings`, got DataFrame; pass what `as_ratings` returns."),
    (lambda: evaluate(MADE, BIAS, MADE), "Expected a fitted model, got Ratings; pass what `fit` returns."),
    (lambda: evaluate(MODEL, MADE, MADE), "Expected a fitted model, got ItemModel; pass what `fit` returns."),
    (lambda: evaluate(BIAS, MADE, MADE.where(np.zeros(1200, bool))), "test must contain at least one rating, got none."),
    (lambda: evaluate(BIAS, MADE, MADE, relevant="4"), "relevant must be a number such as 4, got '4'."),
    # Devices
    (lambda: Profile(BIAS, {1: 5}), "Expected an item model, got Fitted; pass the published model, as `item_model` returns it."),
    (lambda: Profile(MODEL, [1, 2]), "Expected a mapping, got list; pass ratings by item id, as in {1: 5}."),
    (lambda: Profile(MODEL, {1: 5}).recommend(-1), "n must be an integer of at least 0, got -1."),
    (lambda: Profile(MODEL, {1: 5}).recommend("3"), "n must be an integer of at least 0, got '3'."),
    (lambda: ListProfile(MODEL, [1]), "Expected a list model, got ItemModel; pass the published model, as `list_model` returns it."),
    (lambda: ItemModel.from_bytes(b"abc"), "This is not a valid item model: it begins with b'abc'."),
    (lambda: ItemModel.from_bytes("abc"), "Expected the bytes of an item model, got str; pass what `to_bytes` returns."),
    (lambda: ListModel.from_bytes(None), "Expected the bytes of a list model, got NoneType; pass what `to_bytes` returns."),
    (lambda: ListProfile(list_model(LISTS), 3), "Expected a list of item ids, got int; pass ids, as in [3, 7]."),
    (lambda: ListProfile(list_model(LISTS), "37"), "Expected a list of item ids, got str; pass ids, as in [3, 7]."),
    (lambda: ListProfile(list_model(LISTS), USERS), "Expected a list of item ids, got DataFrame; pass ids, as in [3, 7]."),
    (lambda: ListProfile(list_model(LISTS), [3.0]), NO_ID.format("float")),
    (lambda: ListProfile(list_model(LISTS), [[3]]), NO_ID.format("list")),
    (lambda: Profile(MODEL, {1.0: 5, 2: 3}), NO_ID.format("float")),
    (lambda: Profile(MODEL, {None: 5}), NO_ID.format("NoneType")),
    (lambda: Profile(MODEL, {True: 5}), NO_ID.format("bool")),
    (lambda: Profile(MODEL, {1: 5}).predict([3, 4]), NO_ID.format("list")),
    (lambda: Profile(MODEL, {1: 5}).predict(3.0), NO_ID.format("float")),
    (lambda: Profile(MODEL, {1: 5}).predict(None), NO_ID.format("NoneType")),
    (lambda: Profile(MODEL, {1: np.array([5, 4])}), OFF_SCALE),
    (lambda: Profile(MODEL, {1: "5"}), OFF_SCALE),
    (lambda: Client("nowhere/a.db", URL, most_epsilon="2", lifetime="50"), "nowhere/a.db cannot be read or written (No such file or directory); no report was drawn or sent."),
    (lambda: Client(5, URL, most_epsilon="2", lifetime="50"), "The path must be a string or a Path, as in 'ratings.csv', got 5."),
    (lambda: Client("a.db", URL, most_epsilon=2, lifetime="50"), "Expected an epsilon, got int; write it as a string, as in '0.5'."),
    (lambda: Client("a.db", 4, most_epsilon="2", lifetime="50"), "Expected a URL, got int; write it as a string, as in 'https://films.example'."),
    (lambda: Client("a.db", URL, most_epsilon="2", lifetime="50", task=3), "Expected the address of a task, got int; write it as a string of 64 hexadecimal digits."),
    # Readers
    (lambda: read(3), "The path must be a string or a Path, as in 'ratings.csv', got 3."),
    (lambda: titles(3), "The path must be a string or a Path, as in 'ratings.csv', got 3."),
    (lambda: from_frame([1, 2]), "Expected a polars or pandas frame, got list; `tacit.as_ratings` also takes paths and arrays."),
    (lambda: from_frame(FRAME, scale=3), NO_SCALE.format(3)),
    (lambda: from_frame(FRAME, rounding="stochastic", scale="1:5:1", rng=-1), "rng must be an integer of at least 0, got -1."),
    (lambda: from_frame(FRAME, rounding="stochastic", scale="1:5:1", rng="x"), "rng must be an integer of at least 0, got 'x'."),
    (lambda: from_frame(FRAME, columns="user=who"), "Expected a mapping, got str; name columns as in {'user': 'member'}."),
    (lambda: from_frame(FRAME, columns={"user": 3}), "Expected a column name, got int; name the column of user as a string."),
    (lambda: from_frame(FRAME, columns={"user": "item"}), "The column 'item' is used for two of user, item, rating, timestamp; name another column for one of them."),
    (lambda: from_frame(FRAME, catalogue=3), "Expected a list of ids, got int; pass the catalogue as in ['a', 'b']."),
    (lambda: MADE.with_people("abc"), "Expected a list of ids, got 'abc'; pass the list of users as in ['a', 'b']."),
    (lambda: as_ratings(np.array([[1, 2, 3]])), NO_RATINGS),
    (lambda: as_ratings([[1, 2, 3], [2, 3, 4], [5, 1, 2]]), "data must be a tuple of arrays (user, item, rating), optionally followed by a time in Unix seconds, got a list of 3 rows."),
    (lambda: as_ratings([(1, 2, 3), (2, 3, 4)]), "data must be a tuple of arrays (user, item, rating), optionally followed by a time in Unix seconds, got a list of 2 rows."),
    (lambda: as_ratings(pd.DataFrame({"user": [], "item": [], "rating": []}, dtype=object)), "frame contains no ratings; name a file with at least one row."),
    (lambda: as_ratings(csr_array(np.eye(3))), "frame: no scale can be inferred (all ratings are 1); declare it, as in scale='1:5:1' (--scale 1:5:1), or scale='there' (--implicit) for interactions."),
    (lambda: as_ratings((1, 2, 3)), re.compile("The columns cannot be read .*; pass a path, ")),
    (lambda: as_ratings(pd.DataFrame({"user": ["a", 1, None], "item": [1, 2, 3], "rating": [1, 2, 3]})), "frame: column 'user' has mixed types (NoneType, int, str); convert it to one type."),
    (lambda: as_ratings(pd.DataFrame({"user": [1, 2], "item": [1, 2], "rating": [1, "x"]})), "frame: column 'rating' has mixed types (int, str); convert it to one type."),
    (lambda: as_ratings(FRAME.with_columns(rating=pl.lit("x"))), "frame: column 'rating' must contain numbers, got String."),
    (lambda: synthetic(10, 10, 50), "n_items must be at least 40, so that every user can rate 20 items of half the catalogue, got 10; generate more items, or pass a smaller fewest."),
    (lambda: synthetic(10, 100, 50), "n_ratings must be from 200 to 500 for 10 users with 20 to 50 ratings each, got 50."),
    (lambda: synthetic("10"), "n_users must be an integer of at least 1, got '10'."),
    (lambda: synthetic(60, 50.5), "n_items must be an integer of at least 1, got 50.5."),
    (lambda: synthetic(60, 50, rng="x"), "rng must be an integer of at least 0, got 'x'."),
    (lambda: synthetic(60, 50, fewest="2"), "fewest must be an integer, got '2'."),
    (lambda: as_ratings(FRAME, held_out=3), "Expected a column name, got int; name the held-out column as a string."),
    # Comparisons and attacks
    (lambda: compare(MADE, model="mf"), "compare has no option 'model'; did you mean models?"),
    (lambda: compare(MADE, models="mf", epsilon=1), "compare has no option 'epsilon'; did you mean epsilons?"),
    (lambda: compare(MADE, models="mf", catalog=[1]), "compare has no option 'catalog'; did you mean catalogue?"),
    (lambda: compare(MADE, models="mf", held_out="x"), re.compile("compare has no option 'held_out'; it has channels, models, .*, split, .*, scale, .*, notify\\.$")),
    (lambda: one_run(fit, FRAME, "value", seed=1), "Expected `Ratings`, got DataFrame; pass the trainer's ratings without the canaries."),
    (lambda: compare(MADE, models="mf", split=Splitter()), "split must be a name, got the splitter Splitter: a run is repeated from its options, and a splitter is not one. Use folds=5, test_share=0.1 or split='time', or write the test rows to a column and pass split='column:NAME'."),
    (lambda: compare(MADE, models="mf", relevant="x"), "relevant must be a number such as 4, got 'x'."),
    (lambda: compare(MADE, models="mf", relevant=99), "relevant must be a rating from 1 to 5 on the scale 1:5:1, got 99."),
    (lambda: compare(MADE, models="mf", relevant=0.5), "relevant must be a rating from 1 to 5 on the scale 1:5:1, got 0.5."),
    (lambda: compare(MADE, models="mf", factors=-3), "factors must be an integer of at least 0, got -3."),
    (lambda: compare(MADE, models="mf", path=3), "The path must be a string or a Path, as in 'ratings.csv', got 3."),
    (lambda: compare(MADE, models="mf", engine="spark"), NO_ENGINE),
    (lambda: compare(MADE, models="channel-mf", items="movies.csv"), ITEM_TABLE.format("str")),
    (lambda: compare(MADE, models="channel-mf", items=USERS), ITEM_TABLE.format("DataFrame")),
    (lambda: compare(MADE, models="ease,mf", engine=Local()), "Devices with ease can only be simulated in this process; leave out the engine, or choose models that predict ratings."),
    (lambda: compare(synthetic(60, 50, 1200, scale="there"), engine=Local()), re.compile("Devices with ease can only be simulated in this process; ")),
    (lambda: fit("mf", MADE, advance=print), "advance is not a setting; pass a callback as progress."),
    (lambda: attack("linkage", known=3), "known of attack linkage must be a list of values, as in (2, 4, 8, 20), got 3."),
    (lambda: World.through(MADE, "rated", 0), "plan must be a plan such as Rated(channel), got 'rated'."),
    (lambda: World.unprotected(FRAME, "rated", 0, scale=3), NO_SCALE.format(3)),
]  # fmt: skip


@pytest.mark.sampled(6)
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
    assert Profile(MODEL, {np.int64(1): 5}).predict(np.int32(3)) == Profile(MODEL, {1: 5}).predict(
        "3"
    )
    assert ListProfile(list_model(LISTS), np.array([3, 7])).recommend(3)
    assert len(BIAS.recommend(1, 10**13)) == len(BIAS.recommend(1, 50))
    assert perturb(MADE, Rated([CHANNEL, CHANNEL]), channel_of_person=[0, 1] * 30)
    assert attack("linkage", known=[2]).known == [2]
    with pytest.raises(RequestError, match="cap must be an integer of at least 1, got 0"):
        Rated(CHANNEL, cap=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: read(FRAME),
        lambda: BIAS.save(FRAME),
        lambda: perturb(MADE, FRAME),
        lambda: Rated(CHANNEL, cap=FRAME),
        lambda: BIAS.recommend(1, FRAME),
        lambda: LISTS.lists(MADE, where=FRAME),
        lambda: compile_channel("randomized-response", epsilon=FRAME, scale="1:5:1"),
        lambda: compare(MADE, models=FRAME),
        lambda: compare(MADE, models="mf", test_share=FRAME),
        lambda: compare(MADE, models="mf", delta=FRAME),
        lambda: fit("mf", MADE, factors=FRAME),
    ],
)
def test_no_message_shows_the_rows_of_a_table(call):
    """A table in place of another argument is named by its type: its rows are ratings."""
    with pytest.raises(TacitError) as raised:
        call()
    message = str(raised.value)
    assert message.endswith(("got DataFrame.", "got Series.")) or "got DataFrame;" in message
    assert "shape" not in message
    assert "\n" not in message
