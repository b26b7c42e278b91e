"""Commands for collectors and devices."""
