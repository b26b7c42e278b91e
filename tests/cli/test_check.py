"""`tacit check`: members that are sound pass every claim, and each planted fault fails its own."""

import pytest

from tacit.cli import main

SOUND = """
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

from tacit.channels.compiler import PRECISION
from tacit.channels.mechanism import AbstractMechanism


@dataclass(frozen=True, kw_only=True)
class Favoured(AbstractMechanism):
    def table(self):
        with localcontext(prec=PRECISION):
            high, low = self.high(), Decimal(1)
            rows = [[high if y == r else low for y in self.scale.levels] for r in self.scale.levels]
        return self.compiled(self.scale.levels, rows)

    def high(self):
        return Decimal(self.epsilon).exp()
"""
HOT = SOUND.replace(
    "return self.compiled(self.scale.levels, rows)",
    "return replace(self.compiled(self.scale.levels, rows), epsilon='0.25')",
)
SHY = SOUND.replace("Decimal(self.epsilon).exp()", "(Decimal(self.epsilon) / 2).exp()")


@pytest.fixture
def checked(tmp_path, capsys, monkeypatch):
    """Exit status and output of `tacit check` of a name in a file with this text."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, name: str) -> tuple[int, str, str]:
        (tmp_path / "attempt.py").write_text(text)
        with pytest.raises(SystemExit) as left:
            main(["check", f"attempt.py:{name}"])
        out = capsys.readouterr()
        return int(left.value.code or 0), out.out, out.err

    return run


def test_a_sound_channel_holds_every_claim_and_hears_what_none_shows(checked):
    status, out, _ = checked(SOUND, "Favoured")
    assert status == 0
    assert out.count("holds  ") == 7
    assert "FAILS" not in out
    assert "attempt.py:Favoured, a channel: 7 of 7 claims hold." in out
    assert "Not tested: that the table is the intended distribution" in out


@pytest.mark.parametrize(
    ("text", "said"),
    [(HOT, "claim a larger epsilon"), (SHY, "nats below its claim")],
)
def test_a_channel_hotter_or_colder_than_it_claims_fails_by_a_sentence(checked, text, said):
    status, out, _ = checked(text, "Favoured")
    assert status == 1
    assert "FAILS" in out
    assert said in out


def test_a_model_is_told_from_a_training_by_what_its_fit_is_asked(checked):
    status, out, _ = checked("from tacit.models import Baseline as Mine", "Mine")
    assert (status, "a model: 7 of 7 claims hold." in out) == (0, True)
    text = "from tacit.training import training\nraw = training('dpss', 'faithful')"
    status, out, _ = checked(text, "raw")
    assert status == 1
    assert "attempt.py:raw, a trainer:" in out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Nobody", "attempt.py does not define 'Nobody'; it defines one."),
        ("one", "1 is not a channel, model, trainer or attack"),
    ],
)
def test_what_is_no_member_is_said_in_a_sentence(checked, name, said):
    status, _, err = checked("one = 1", name)
    assert status == 1
    assert said in err


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ("nothing", "as in my_package:MyChannel, got 'nothing'"),
        ("no_such_package:Mine", "Module no_such_package does not exist; install it"),
        ("missing.py:Mine", "File missing.py does not exist"),
    ],
)
def test_a_place_without_a_member_is_said_in_a_sentence(member, said, capsys):
    with pytest.raises(SystemExit):
        main(["check", member])
    assert said in capsys.readouterr().err
