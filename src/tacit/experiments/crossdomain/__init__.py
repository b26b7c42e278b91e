"""`tacit crossdomain`: the request, the grid and its measurement."""
