"""Guerraoui et al.: X-Map, AlterEgos across domains."""

from tacit_studies.paper import Paper
from tacit_studies.x_map.corrections import CORRECTIONS
from tacit_studies.x_map.figures import Figures
from tacit_studies.x_map.genres import Genres
from tacit_studies.x_map.similarities import Similarities
from tacit_studies.x_map.speedup import Speedup
from tacit_studies.x_map.stages import Stages
from tacit_studies.x_map.theorem_1 import XMapTheorem1
from tacit_studies.x_map.theorems import Theorems
from tacit_studies.x_map.two_domains import made_up, taken

X_MAP = Paper(
    name="x-map",
    reference="Guerraoui, Kermarrec, Lin and Patra, Heterogeneous Recommendations: What You Might "
    "Like To Read After Watching Interstellar, PVLDB 10, 2017",
    studies=(
        XMapTheorem1(), Theorems(), Similarities(), Stages(), Figures(), Genres(), Speedup(),
    ),
    quick=(
        XMapTheorem1(cases=200, users=5, k=10),
        Theorems(pairs=200, rows=10, draws=20, k=20),
        Similarities(overlaps=(0.05, 0.2, 1.0), k=10),
        Stages(overlaps=(0.05, 1.0), k=10),
        Figures(
            systems=(
                "nx-map", "nx-map-everybody", "x-map", "x-map-strict", "item-average",
                "remote-user", "knn-linked",
            ),
            ks=(10, 50), overlaps=(0.2, 1.0), keeps=(0, 6), epsilons=("0.1", "0.9"),
            decays=(0.03,),
        ),
        Genres(k=20, master=""),
        Speedup(workers=()),
    ),
    corrections=CORRECTIONS,
    made_up=made_up,
    taken=taken,
    genres=True,
)  # fmt: skip
