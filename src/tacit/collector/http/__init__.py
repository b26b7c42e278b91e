"""The HTTP application: middleware, routes, validation and body limits."""
