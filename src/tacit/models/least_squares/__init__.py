"""Least-squares models that treat reported values as ratings."""
