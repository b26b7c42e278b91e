"""Attempts to refute a promise: exact, sampled, by replay, and of published bounds."""
