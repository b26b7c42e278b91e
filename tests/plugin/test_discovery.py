"""Members from outside: found when asked for, refused by a sentence, in the way of nothing else."""

import sys

import pytest
from outside_texts import CHANNEL, MODEL, READER, TRAINING

from tacit import fit, plugins
from tacit.channels import MECHANISMS, settings_of
from tacit.cli import plugins as offered
from tacit.errors import RequestError
from tacit.models import MODELS
from tacit.readers import FORMATS, read, synthetic
from tacit.training import modes, names


def test_a_model_is_a_member_by_its_name(install):
    assert "plain" not in MODELS
    install("fake_plain", MODEL, models="plain = fake_plain:Plain")
    ratings = synthetic(40, 60, 900)
    assert list(MODELS)[-1] == "plain"
    assert len(MODELS) == len(MODELS.own) + 1
    assert MODELS.plugin("plain") == "fake_plain 1.2"
    assert MODELS.plugin("mf") is None
    assert repr(MODELS).endswith("channel-mf-screened, plain>")
    assert fit("plain", ratings).model == "plain"
    assert fit("plain", ratings).items.tobytes() == fit("item-mean", ratings).items.tobytes()


def test_nothing_is_imported_before_it_is_asked_for(install):
    install("fake_lazy", MODEL, models="plain = fake_lazy:Plain")
    assert "plain" in list(MODELS)
    fit("item-mean", synthetic(40, 60, 900))
    assert "fake_lazy" not in sys.modules
    assert MODELS["plain"].name == "plain"
    assert "fake_lazy" in sys.modules


def test_a_built_in_channel_asks_nothing_of_plug_ins(monkeypatch):
    monkeypatch.setattr(plugins, "claims", None)
    assert settings_of("duchi").__name__ == "Duchi"


def test_channels_and_trainings_are_members_too(install):
    install(
        "fake_both",
        CHANNEL + TRAINING,
        channels="again = fake_both:Again",
        trainings="told = fake_both:Told",
    )
    assert settings_of("again") is settings_of("duchi")
    assert MECHANISMS.plugin("again") == "fake_both 1.2"
    assert names()[-1] == "told"
    assert "told" not in names("faithful")
    assert modes("told", "both") == ("strict",)


def test_a_reader_is_asked_about_what_no_built_in_one_knows(install, tmp_path):
    (tmp_path / "stars.bars").write_text("1!7!4\n1!8!2\n2!7!5\n")
    (tmp_path / "known.csv").write_text("user,item,rating\na!,1,3\nb!,2,5\n")
    with pytest.raises(Exception, match="an unknown format"):
        read(tmp_path / "stars.bars")
    install("fake_bars", READER, readers="bars = fake_bars:BARS")
    assert read(tmp_path / "stars.bars").values.tolist() == [4, 2, 5]
    assert FORMATS["bars"].scale == "1:5:1"
    assert read(tmp_path / "known.csv", scale="1:5:1").user_ids.ids.to_list() == ["a!", "b!"]
    (tmp_path / "folder").mkdir()
    (tmp_path / "stars.bars").rename(tmp_path / "folder" / "stars.bars")
    assert len(read(tmp_path / "folder")) == 3


def test_a_reader_that_does_not_load_is_in_the_way_of_no_other(install, tmp_path):
    install("fake_bad", "1 / 0", readers="bad = fake_bad:BAD")
    install("fake_bars", READER, readers="bars = fake_bars:BARS")
    (tmp_path / "stars.bars").write_text("1!7!4\n1!8!2\n")
    assert len(read(tmp_path / "stars.bars")) == 2
    with pytest.raises(
        RequestError, match=r"reader 'bad' of fake_bad 1\.2 cannot be loaded \(ZeroDi"
    ):
        read(tmp_path / "stars.bars", format="bad")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nothing_of_that_name", "(ModuleNotFoundError: No module named 'nothing_of_that_"),
        ("raise SystemExit", "(SystemExit)"),
        ("Plain = 3", "(3 has no attribute 'name')"),
        (MODEL.replace('"plain"', '"other"'), "(its name attribute is 'other')"),
        (MODEL.replace("fit(", "learn("), "has no attribute 'fit')"),
    ],
)
def test_what_does_not_load_is_a_sentence_before_any_work(install, run, source, said):
    install("fake_bad", source, models="plain = fake_bad:Plain")
    status, out, err = run("compare", "nowhere.csv", "--model", "plain")
    assert (status, out) == (1, "")
    assert err.startswith("The model 'plain' of fake_bad 1.2 cannot be loaded (")
    assert said in err
    assert err.endswith("; correct it, or leave it out.\n")
    assert said in run("list", "models")[1]


def test_what_is_no_mechanism_is_refused(install, run):
    install("fake_odd", MODEL, channels="odd = fake_odd:Plain")
    status, _, err = run("channel", "show", "odd", "--epsilon", 1)
    assert status == 1
    assert "is not a subclass of AbstractMechanism); correct it" in err


@pytest.mark.parametrize(
    ("group", "name", "option"),
    [
        ("models", "mf", "--model"),
        ("models", "pg-mf", "--model"),
        ("trainings", "ease", "--model"),
        ("channels", "auto", "--channel"),
        ("channels", "duchi", "--channel"),
    ],
)
def test_the_name_of_a_built_in_member_is_refused(install, run, group, name, option):
    install("fake_twin", MODEL, **{group: f"{name} = fake_twin:Plain"})
    status, _, err = run("compare", "nowhere.csv", option, name)
    said = (
        f"'{name}' of fake_twin 1.2 has the name of a built-in entry; rename it, or leave it out."
    )
    assert status == 1
    assert said in err
    assert said in run("list", group.replace("trainings", "trainers"))[1]
    others = ("--model", "bias", "--channel", "optimal")
    assert run("compare", "nowhere.csv", *others)[2].startswith("nowhere.csv")


def test_two_plug_ins_with_one_name_are_refused(install):
    install("fake_one", MODEL, models="plain = fake_one:Plain")
    install("fake_two", MODEL, models="plain = fake_two:Plain")
    with pytest.raises(RequestError, match=r"has the same name as one of fake_.* 1\.2; rename one"):
        fit("plain", synthetic(40, 60, 900))


def test_help_and_the_tab_key_know_them(install):
    install("fake_plain", MODEL, models="plain = fake_plain:Plain")
    assert offered.MODEL("mf,pla") == ["mf,plain"]
    assert offered.MODEL("channel-mf-") == ["channel-mf-screened"]
    assert offered.CHANNEL("au") == ["auto"]
    assert offered.FORMAT("net") == ["netflix"]


def test_the_help_of_a_verb_ends_with_them(install, run):
    assert "plug-ins" not in run("fit", "--help")[1]
    install("fake_plain", MODEL, models="plain = fake_plain:Plain")
    assert "From plug-ins: plain, a model of fake_plain 1.2." in run("fit", "--help")[1]
    assert "plug-ins" not in run("--help")[1]
