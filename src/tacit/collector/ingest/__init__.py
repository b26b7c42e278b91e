"""Ingestion of reports: validation, group commit, retention, and refusals."""
