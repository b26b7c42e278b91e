"""Verbs of a collector and of devices: what is asked, who answers, what is kept."""
