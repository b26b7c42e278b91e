"""Bounds and theorems of the papers, as questions that can be computed."""
