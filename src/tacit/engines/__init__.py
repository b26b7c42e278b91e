"""Execution engines: this machine, or Spark."""
