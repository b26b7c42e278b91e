"""Distillation of posterior draws into one item model for devices."""
