"""Commands of the panel Evaluate."""
