"""Commands for two domains."""
