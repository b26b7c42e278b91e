"""Attacks: rows, tables and the report."""
