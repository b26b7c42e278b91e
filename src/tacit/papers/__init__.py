"""Reproductions of four papers: each figure, table and theorem, published and measured.

A folder a paper, a file a figure, table or theorem. `PAPERS` has them by name.
"""

from tacit.papers.neera import NEERA
from tacit.papers.paper import Paper
from tacit.papers.x_map import X_MAP
from tacit.papers.xian import XIAN
from tacit.papers.zheng import ZHENG

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (ZHENG, NEERA, XIAN, X_MAP)}

__all__ = ["PAPERS", "Paper"]
