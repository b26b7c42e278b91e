"""Guarantees with their units, privacy loss profiles, and the ledger."""
