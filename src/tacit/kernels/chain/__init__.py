"""Half-sweeps of the sampler: rows given the rest, how people spread, and moves of weights."""
