"""Half-sweeps of the sampler: rows given the rest, and how people spread around their tastes."""
