"""Audits of privacy guarantees: exact, sampled, by replay, and of published bounds."""
