"""Top-N trainers from shuffled messages, with a guarantee per user and no curator."""
