"""`tacit crossdomain`: the request, rows, figures and the report."""
