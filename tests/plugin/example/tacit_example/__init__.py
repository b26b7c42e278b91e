"""Members of Tacit from outside."""
