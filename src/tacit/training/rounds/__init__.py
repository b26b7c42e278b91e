"""Federated trainers: each device answers with one private gradient."""
