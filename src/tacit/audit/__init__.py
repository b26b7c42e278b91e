"""Audits of privacy guarantees: exact, sampled, in one run and by replay."""
