"""The verb `recommend`: ratings and lists, by a model and by a profile at home."""
