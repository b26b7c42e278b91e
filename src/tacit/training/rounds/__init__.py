"""Trainings in rounds: every device answers with one private gradient."""
