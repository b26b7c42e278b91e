"""Choosing epsilon: privacy strength against accuracy."""
