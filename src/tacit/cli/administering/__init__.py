"""Commands for the operator of a collector."""
