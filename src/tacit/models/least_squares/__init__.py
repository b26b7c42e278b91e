"""Models that take reported numbers for ratings, and solve for factors."""
