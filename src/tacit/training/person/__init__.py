"""Trainings whose unit is a person: dpals and dp-covariance."""
