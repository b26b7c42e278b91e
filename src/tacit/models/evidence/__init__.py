"""Reports or ratings in the one form that every model reads, and what is known of presence."""
