"""Trainers with a guarantee per rating value: SVD and SVD++ with noise."""
