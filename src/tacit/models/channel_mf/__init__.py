"""The model that reads the channel's exact likelihood, by Gibbs sampling."""
