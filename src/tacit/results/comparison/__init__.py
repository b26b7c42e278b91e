"""A comparison: rows, tables, figures and the report."""
