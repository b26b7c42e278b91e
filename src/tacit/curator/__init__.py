"""The curator's trainings: true ratings in one place, noise inside, a model released."""

from typing import Any

from tacit.curator.berlioz import Berlioz as Berlioz
from tacit.curator.covariance import DPCovariance as DPCovariance
from tacit.curator.dpals import DPALS as DPALS
from tacit.curator.faithful import FaithfulSVD as FaithfulSVD
from tacit.curator.private_svd import PrivateSVD as PrivateSVD
from tacit.models import TRAININGS as ROUNDS
from tacit.models import AbstractTraining, changed

STRICT: dict[str, AbstractTraining] = dict(ROUNDS) | {
    training.name: training
    for training in (
        PrivateSVD(noise=None),
        PrivateSVD(noise="gradient"),
        PrivateSVD(noise="gradient", implicit=True),
        PrivateSVD(noise="objective"),
        PrivateSVD(noise="objective", implicit=True),
        PrivateSVD(noise="output"),
        PrivateSVD(noise="output", implicit=True),
        Berlioz(noise="gradient"),
        Berlioz(noise="output"),
        DPALS(),
        DPCovariance(),
    )
}
"""Trainings whose promise holds, those that ask devices in rounds among them."""

FAITHFUL: dict[str, AbstractTraining] = {
    training.name: training
    for training in (
        FaithfulSVD(noise="gradient"),
        FaithfulSVD(noise="gradient", implicit=True),
        FaithfulSVD(noise="objective"),
        FaithfulSVD(noise="objective", implicit=True),
        FaithfulSVD(noise="output"),
        FaithfulSVD(noise="output", implicit=True),
    )
}
"""Trainings as published, with the claim that is printed for them and the reason why it fails."""

TRAININGS: dict[str, dict[str, AbstractTraining]] = {"strict": STRICT, "faithful": FAITHFUL}
"""Every training by mode and name."""


def modes(name: str, wanted: str = "strict") -> tuple[str, ...]:
    """The modes a training runs in when `wanted` is strict, faithful or both: those it has, and the
    only one it has where it lacks the wanted one; none for what is no training."""
    had = tuple(mode for mode, members in TRAININGS.items() if name in members)
    return tuple(mode for mode in had if wanted in (mode, "both")) or had[:1]


def training(name: str, mode: str = "strict", **settings: Any) -> AbstractTraining:
    """The named training with some settings changed; raises `RequestError` as `models.model`."""
    return changed(TRAININGS[mode], name, settings)
