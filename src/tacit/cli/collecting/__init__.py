"""Commands of the panel Collect and publish."""
