"""Recipes of documents that every device refuses, and of some that every device takes."""
