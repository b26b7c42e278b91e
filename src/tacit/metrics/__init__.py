"""Accuracy metrics and train-test splits."""
