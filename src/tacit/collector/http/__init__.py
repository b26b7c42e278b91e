"""What answers requests: middleware, routes, validation, limits of a body."""
