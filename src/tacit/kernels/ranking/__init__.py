"""Top-k items per user."""
