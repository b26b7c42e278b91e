"""Simulated collection: plans, bulk randomization, and report files."""
