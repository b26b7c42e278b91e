"""File formats of ratings: how each is recognized and parsed."""
