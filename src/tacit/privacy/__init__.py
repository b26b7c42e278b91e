"""Guarantees with their units, privacy loss profiles, the ledger, and shuffled messages."""
