"""What many devices compute, at once."""
