"""Kernels of neighbourhood methods: similarities, predictions and meta-paths."""
