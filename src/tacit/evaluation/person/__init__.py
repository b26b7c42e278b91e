"""Comparison at equal epsilon per user."""
