"""Zheng: two mechanisms for collecting ratings."""

from tacit.papers.paper import Paper, one_set
from tacit.papers.zheng.corrections import CORRECTIONS
from tacit.papers.zheng.theorem_3 import Theorem3
from tacit.papers.zheng.theorems_1_2 import Theorems12
from tacit.readers import synthetic

ZHENG = Paper(
    name="zheng",
    reference="Zheng, Two Differentially Private Rating Collection Mechanisms for Recommender "
    "Systems, 2022",
    studies=(Theorems12(), Theorem3()),
    quick=(Theorems12(), Theorem3(draws=20, epsilons=("1", "4", "10"))),
    corrections=CORRECTIONS,
    made_up=lambda quick: synthetic(60, 80, 2000) if quick else synthetic(),
    taken=one_set("zheng"),
)
