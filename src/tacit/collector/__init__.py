"""The provider's door: it stores each report once, durably, and knows nothing it need not."""
