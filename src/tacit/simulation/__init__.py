"""People of a ratings file as devices of their own, against a real collector."""
