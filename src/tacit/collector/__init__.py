"""What the provider runs: it stores each report once, durably, and knows nothing it need not."""
