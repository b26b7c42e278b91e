"""Kernels of lists: sums of sparse rows, and the best items."""
