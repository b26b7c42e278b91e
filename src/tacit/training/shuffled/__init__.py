"""Trainers from shuffled messages, with a guarantee per user and no curator."""
