"""The provider's server: stores each report once, durably, and no more than it needs."""
