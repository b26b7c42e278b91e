"""Trainings of lists whose unit is a person: dp-ease and dp-popularity."""
