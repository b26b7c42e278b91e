"""Choosing epsilon, on public or on private ratings."""
