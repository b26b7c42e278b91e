"""The rows of many people at once, each from their own ratings."""
