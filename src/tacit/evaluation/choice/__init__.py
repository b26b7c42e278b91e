"""Choosing an epsilon: how much privacy for how much accuracy."""
