"""`tacit channel`: what a person sees, and what makes it fail."""

import json
import math

import pytest
from typer.testing import CliRunner

from tacit.channels import choose_channel, compile_channel
from tacit.cli.inspecting.channel import app
from tacit.errors import CertificateError, DataError, RequestError
from tacit.scale import RATED_SHARE, RatingScale
from tacit.wire.channel import dumps, loads

STARS = RatingScale.parse("1:5:1")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_show_prints_the_table_and_its_epsilon():
    text = run("show", "randomized-response", "--epsilon", "1")
    assert "epsilon 1 per value" in text
    assert compile_channel("randomized-response", epsilon="1", scale=STARS).id in text
    assert "40.461" in text
    assert "14.885" in text
    assert text.count("\n") == 11


def test_show_protects_presence_where_asked():
    assert "per slot" in run("show", "randomized-response", "--epsilon", "1", "--missing")


def test_show_says_what_a_report_of_interactions_tells():
    """One bit of randomized response at a public density d: J = (2p - 1)^2 / (q (1 - q))."""
    shown = run("show", "auto", "--epsilon", "1", "--missing", "--scale", "there")
    true = math.e / (1 + math.e)
    q = RATED_SHARE * true + (1 - RATED_SHARE) * (1 - true)
    found = (2 * true - 1) ** 2 / (q * (1 - q))
    assert f"information {found:.4g} about the share of rated slots" in shown
    assert "nats about a slot (uniform prior)" in shown


def test_show_json_is_the_wire_form():
    text = run("show", "bounded-laplace", "--epsilon", "1", "--symbols", "16", "--json")
    assert loads(text) == compile_channel("bounded-laplace", epsilon="1", scale=STARS, symbols=16)
    assert (
        loads(run("show", "auto", "--epsilon", "1", "--json"))
        == choose_channel(epsilon="1", scale=STARS)[1]
    )


def test_identity_has_no_table():
    with pytest.raises(RequestError, match="identity adds no noise"):
        run("show", "identity", "--epsilon", "1")
    with pytest.raises(RequestError, match="identity adds no noise"):
        run("show", "identity")


def test_a_channel_without_epsilon_is_a_usage_error():
    assert CliRunner().invoke(app, ["show", "duchi"]).exit_code == 2


def test_verify(tmp_path):
    file = tmp_path / "c.json"
    channel = compile_channel("optimal", epsilon="1.5", scale=STARS)
    file.write_text(dumps(channel))
    assert f"is verified: epsilon 1.5 per value, id {channel.id}" in run("verify", str(file))
    assert "is verified" in run("verify", str(file), "--max-epsilon", "1.5")
    with pytest.raises(CertificateError, match=r"claims epsilon 1.5, above --max-epsilon 1\.4"):
        run("verify", str(file), "--max-epsilon", "1.4")
    file.write_text(json.dumps(json.loads(dumps(channel)) | {"epsilon": "1.4"}))
    with pytest.raises(CertificateError, match=r"c\.json: .*above e\^1.4"):
        run("verify", str(file))
    file.write_text("user,item\n")
    with pytest.raises(DataError, match=r"c\.json: A channel is not JSON"):
        run("verify", str(file))
    with pytest.raises(DataError, match="cannot be read"):
        run("verify", str(tmp_path / "absent"))
