"""Experiments over channels, models and splits: grid, result rows, tables and reports."""
