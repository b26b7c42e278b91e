"""One person's side: ratings, answers, ledger and predictions, on the standard library alone."""
