"""Components of self-contained HTML pages: figures, tables, axes."""
