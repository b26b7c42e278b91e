"""Experiments over channels, models and splits: their grid, their rows, tables and reports."""
