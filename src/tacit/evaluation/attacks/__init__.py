"""Attacks on data at hand, as a grid over plans, channels and epsilons."""
