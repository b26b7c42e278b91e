"""How each family of rating files looks, and how its rows come out."""
