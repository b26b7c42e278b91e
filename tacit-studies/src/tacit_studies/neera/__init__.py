"""Neera et al.: bounded Laplace on the device, a mixture of Gaussians at the provider."""

from tacit.readers import synthetic
from tacit_studies.neera.corrections import CORRECTIONS
from tacit_studies.neera.figure_2 import NeeraFigure2
from tacit_studies.neera.figures_3_4_7_8 import Figures3478
from tacit_studies.neera.figures_5_6 import Figures56
from tacit_studies.neera.table_4 import Table4
from tacit_studies.neera.theorem_1 import NeeraTheorem1
from tacit_studies.paper import Paper, one_set

NEERA = Paper(
    name="neera",
    reference="Neera, Chen, Aslam, Wang and Shu, Private and Utility Enhanced Recommendations with "
    "Local Differential Privacy and Gaussian Mixture Model, 2021",
    studies=(NeeraTheorem1(), NeeraFigure2(), Figures3478(), Figures56(), Table4()),
    quick=(
        NeeraTheorem1(),
        NeeraFigure2(draws=20_000),
        Figures3478(only=3, epsilons=("0.3", "3"), variants=("ours",)),
        Figures56(only=3, epsilons=("0.4", "1.6")),
        Table4(),
    ),
    corrections=CORRECTIONS,
    made_up=lambda quick: synthetic(300, 150, 9000) if quick else synthetic(),
    taken=one_set("neera"),
)
