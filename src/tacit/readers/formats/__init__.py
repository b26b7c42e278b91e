"""Parsers of rating file formats."""
