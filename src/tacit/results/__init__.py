"""Results of experiments: rows, tables, figures and pages, computed from rows alone."""
