"""No training spends more than it says: planted overspending is refused before noise is drawn."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from tacit.errors import CertificateError, RequestError
from tacit.readers import synthetic
from tacit.training import TRAININGS
from tacit.training.gradient_report import ReportAccount
from tacit.training.mechanism.noisy_releases import SecretReleases, Spend
from tacit.training.mechanism.value_account import ValueAccount
from tacit.training.papers import berlioz, xian
from tacit.training.person.release_schedule import ReleaseSchedule
from tacit.training.pg_mf import PGMF
from tacit.training.value import private_svd
from tacit.training.value.biases import BiasBudget

ZEROS = np.zeros(4, np.int64)


def test_prices_add_up_exactly_and_no_further():
    releases = SecretReleases()
    account = ValueAccount("0.3", releases)
    for name in ("one", "two", "three"):
        account.laplace(name, ZEROS, sensitivity=1, epsilon="0.1")  # in floats .30000000000000004
    assert account.total == Decimal("0.3")
    with pytest.raises(
        CertificateError, match=r"four costs 0\.000000001 nats after 0\.3, which exceeds"
    ):
        account.vectors("four", ZEROS[None], sensitivity=1, epsilon="0.000000001")
    assert [look.name for look in releases.spent] == ["one", "two", "three"]  # refused undrawn
    assert account.public("catalogue", 7) == 7
    assert account.close() == "0.3"


def test_what_was_paid_for_is_what_was_drawn():
    account = ValueAccount("1", SecretReleases())
    totals = account.laplace("sums", 10**6 + ZEROS, sensitivity=1, epsilon="0.5")
    rows = account.vectors("rows", 10**6 + ZEROS[None], sensitivity=1, epsilon="0.25")
    assert (totals.shape, rows.shape) == ((4,), (1, 4))
    assert max(np.abs(totals - 10**6).max(), np.abs(rows - 10**6).max()) < 10**4
    paid = [Spend("sums", "laplace", "0.5"), Spend("rows", "vectors", "0.25")]
    assert account.releases.spent == account.spent == paid
    assert account.close() == "1"


def test_a_release_beside_the_account_voids_it():
    account = ValueAccount("1", SecretReleases())
    account.laplace("one", ZEROS, sensitivity=1, epsilon="0.5")
    account.releases.laplace("aside", ZEROS, sensitivity=1, epsilon="0.1")
    with pytest.raises(CertificateError, match="aside"):
        account.close()


def test_an_account_counts_from_where_it_was_opened():
    releases = SecretReleases(spent=[Spend("before", "laplace", "9")])
    account = ValueAccount("1", releases)
    account.laplace("one", ZEROS, sensitivity=1, epsilon="1")
    assert account.close() == "1"


def test_what_has_no_price_here_is_refused():
    account = ValueAccount("1", SecretReleases())
    with pytest.raises(CertificateError, match="Gaussian"):
        account.gaussian("one", ZEROS, sensitivity=1, multiplier="9")
    for price in ("0", "-1", "NaN", "1e-3"):
        with pytest.raises(RequestError, match="epsilon must be a positive decimal"):
            account.laplace("one", ZEROS, sensitivity=1, epsilon=price)
        with pytest.raises(RequestError, match="epsilon must be a positive decimal"):
            ValueAccount(price, SecretReleases())


def test_nobody_reports_more_often_than_their_epsilon_lasts():
    account = ReportAccount.of("1", people=4)
    for turn in (slice(0, 2), slice(2, 4), slice(1, 3)):
        account.pay(turn, "0.5")
    account.pay(slice(3, 4), "0.5")
    with pytest.raises(CertificateError, match=r"3 reports at 0\.5 nats"):
        account.pay(slice(0, 4), "0.5")


def test_of_nobody_nothing_is_asked():
    ReportAccount.of("1", people=0).pay(slice(0, 0), "2")


def twice(shares):
    return {name: 2 * share for name, share in shares.items()}


def overspent(name, patch):
    """Plants, where the named training decides what it spends, a price that is too high."""
    if name == "pg-mf":
        patch.setattr(PGMF, "budget", lambda self, epsilon: (1, "2"))
    elif name in ("dpals", "dp-covariance"):
        shares = ReleaseSchedule.shares.fget
        patch.setattr(ReleaseSchedule, "shares", property(lambda self: twice(shares(self))))
        patch.setattr("tacit.training.person.covariance.LEFT", 1.0)
    elif name.startswith("shuffled-"):
        patch.setattr("tacit.collection.shuffled.plan.ceil", lambda dummies: int(0.9 * dummies))
    elif name in ("psgd", "pals"):
        patch.setattr(berlioz, "share", lambda epsilon, parts: "0.5")
    else:
        planned = private_svd.value_plan
        dear = BiasBudget("0.5", "0.5", "0.5")
        patch.setattr(
            private_svd,
            "value_plan",
            lambda *given, **settings: replace(planned(*given, **settings), biases=dear),
        )
        patch.setattr(xian, "share", lambda epsilon, parts: "0.9")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "mode"), TRAININGS)
def test_a_training_that_spends_more_than_it_says_ends(name, mode, monkeypatch):
    ratings = synthetic(n_users=60, n_items=60, n_ratings=1500, rng=0)
    overspent(name, monkeypatch)
    with pytest.raises(CertificateError):
        TRAININGS[name, mode].fit(ratings, epsilon="1", delta="1e-6")
