"""Simulated devices of the users of a rating file, against a real collector."""
