"""Noise mechanisms, contribution bounds and privacy accounting."""
