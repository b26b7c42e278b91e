"""Pieces of a page that opens without a network: figures, tables, axes."""
