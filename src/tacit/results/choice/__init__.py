"""Choosing epsilon: the trade-off of rows and its report."""
