"""Experiments over channels, models and splits: cells, their measurement, and the one loop."""
