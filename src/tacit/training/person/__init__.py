"""Trainers with a guarantee per user: dpals and dp-covariance."""
