"""Commands of the panel Inspect."""
