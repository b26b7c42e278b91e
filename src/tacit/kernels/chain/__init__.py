"""Half-sweeps of the Gibbs sampler: factor rows, residual scales and prior weights."""
