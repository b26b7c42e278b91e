"""Matrix factorization on the channel's exact likelihood, by Gibbs sampling."""
