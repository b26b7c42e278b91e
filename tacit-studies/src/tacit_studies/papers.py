"""Registry of the reproduced papers, by name."""

from tacit_studies.neera import NEERA
from tacit_studies.paper import Paper
from tacit_studies.x_map import X_MAP
from tacit_studies.xian import XIAN
from tacit_studies.zheng import ZHENG

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (ZHENG, NEERA, XIAN, X_MAP)}
