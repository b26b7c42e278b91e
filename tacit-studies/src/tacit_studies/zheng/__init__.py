"""Zheng: two mechanisms for collecting ratings."""

from tacit.readers import synthetic
from tacit_studies.paper import Paper, one_set
from tacit_studies.zheng.corrections import CORRECTIONS
from tacit_studies.zheng.rule import EpsilonRule
from tacit_studies.zheng.theorem_3 import Theorem3
from tacit_studies.zheng.theorems_1_2 import Theorems12

ZHENG = Paper(
    name="zheng",
    reference="Zheng, Two Differentially Private Rating Collection Mechanisms for Recommender "
    "Systems, 2022",
    studies=(Theorems12(), Theorem3(), EpsilonRule()),
    quick=(Theorems12(), Theorem3(draws=40, epsilons=("1", "4", "10")), EpsilonRule()),
    corrections=CORRECTIONS,
    made_up=lambda quick: synthetic(60, 80, 2000) if quick else synthetic(),
    taken=one_set("zheng"),
)
