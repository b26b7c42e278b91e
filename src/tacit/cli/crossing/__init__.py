"""Verbs about two domains."""
