"""Questions about two dozen films, and a model of them, for the page."""

from array import array
from random import Random

from tacit.channels import compile_channel
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.scale import RatingScale
from tacit.wire.item_model import ItemDraw, ItemModel
from tacit.wire.tasks.task import Task

STARS, ONE = RatingScale.parse("1:5:1"), RatingScale.parse("there")
TITLES = (
    "Metropolis", "The General", "Sunrise", "Nosferatu", "Faust", "Potemkin", "The Gold Rush",
    "City Lights", "M", "It Happened One Night", "The 39 Steps", "Modern Times", "Stagecoach",
    "The Rules of the Game", "Rebecca", "His Girl Friday", "Citizen Kane", "Casablanca",
    "Brief Encounter", "Les Enfants du paradis", "Notorious", "The Third Man", "Rashômon",
    "Vertigo",
)  # fmt: skip


def question(plan: str = "rated", mechanism: str = "duchi") -> Task:
    """24 films; Duchi's tables have the symbols 0 and 1 alone, and no rating from 2 up is one."""
    tables = tuple(
        compile_channel(mechanism, epsilon=e, scale=STARS, missing=plan != "rated")
        for e in ("0.5", "1")
    )
    items = tuple(range(len(TITLES)))
    return Task(
        name="Films", scale=STARS, plan=plan, items=items, titles=TITLES, channels=tables, start=0
    )


def marking(plan: str) -> Task:
    """The same films, and which of them people have seen."""
    tables = tuple(
        compile_channel("randomized-response", epsilon=e, scale=ONE, missing=True)
        for e in ("0.5", "1")
    )
    return Task(
        name="Seen", scale=ONE, plan=plan, items=tuple(range(len(TITLES))), titles=TITLES,
        channels=tables, start=0,
    )  # fmt: skip


def film_model() -> ItemModel:
    rng, n, K = Random(1), len(TITLES), 2

    def numbers(count: int) -> "array[float]":
        return array("f", [rng.uniform(-1, 1) for _ in range(count)])

    draw = ItemDraw(3.5, numbers(n), numbers(n * K), array("f", [2.0] * (1 + K)), numbers(0))
    return ItemModel(STARS, tuple(range(n)), K, "cells", 0.85, (draw,), NO_PRIVACY)
