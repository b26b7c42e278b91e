"""The user's device: ratings, reports, ledger and predictions, with the standard library alone."""
