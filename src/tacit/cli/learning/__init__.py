"""Commands of the panel Learn and recommend."""
