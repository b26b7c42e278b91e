"""Fold-in of many users at once, each from the user's own ratings."""
