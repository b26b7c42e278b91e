"""Trainings whose unit is one rating value: SVD and SVD++ with noise in training."""
