"""`tacit compare`: the request, the grid, tables, figures and the report."""
