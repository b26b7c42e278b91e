"""How good predictions are, and which ratings are held out to ask."""
