"""`tacit compare`: the request, the grid and its measurement."""
