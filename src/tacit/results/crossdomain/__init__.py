"""Cross-domain trials: rows, tables, figures and the report."""
