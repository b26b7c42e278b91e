"""Trainings as published: Xian et al. and Berlioz et al., with what they print."""
