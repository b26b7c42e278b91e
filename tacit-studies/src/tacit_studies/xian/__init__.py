"""Xian et al.: gradient, objective and output perturbation of SVD and SVD++."""

from tacit.readers import synthetic
from tacit_studies.paper import Paper, one_set
from tacit_studies.xian.constants import LostConstants
from tacit_studies.xian.corrections import CORRECTIONS
from tacit_studies.xian.figure_2 import XianFigure2
from tacit_studies.xian.theorems import Theorem5, XianTheorem4, XianTheorem7

XIAN = Paper(
    name="xian",
    reference="Xian, Li, Li and Li, SVD++ with differential privacy, Mathematical Problems in "
    "Engineering, 2017",
    studies=(XianTheorem4(), Theorem5(), XianTheorem7(), XianFigure2(), LostConstants()),
    quick=(
        XianTheorem4(),
        Theorem5(),
        XianTheorem7(designs=500),
        XianFigure2(noises=3, epsilons=("1", "10")),
        LostConstants(
            ratings=19_000, epsilons=("1", "16"), ridges=(0.3, 1.0), rounds=(1, 3), factors=(5,)
        ),
    ),
    corrections=CORRECTIONS,
    made_up=lambda quick: synthetic(400, 500, 20_000) if quick else synthetic(),
    taken=one_set("xian"),
)
