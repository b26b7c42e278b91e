"""Reproductions of four papers: each figure, table and theorem, published and measured.

A folder a paper, a file a figure, table or theorem. `PAPERS` has them by name.
"""

from tacit_studies.neera import NEERA
from tacit_studies.paper import Paper
from tacit_studies.x_map import X_MAP
from tacit_studies.xian import XIAN
from tacit_studies.zheng import ZHENG

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (ZHENG, NEERA, XIAN, X_MAP)}

__all__ = ["PAPERS", "Paper"]
