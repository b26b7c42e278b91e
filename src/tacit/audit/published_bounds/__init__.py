"""Bounds and theorems of the papers, checked numerically."""
