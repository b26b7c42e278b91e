"""Attacks on a chain of tasks, which a device answers block by block under one name."""
