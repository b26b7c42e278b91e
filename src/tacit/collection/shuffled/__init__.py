"""Shuffled messages: a plan of its rounds, and the head whose pairs a second round counts."""
