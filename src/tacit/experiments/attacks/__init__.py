"""Experiments on attacks, as a grid over plans, channels and epsilons."""
