"""Kernels for top-N lists: sums of sparse rows, and selection of the best items."""
