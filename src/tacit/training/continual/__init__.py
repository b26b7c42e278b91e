"""Several releases of growing data under one epsilon per user (continual release)."""
