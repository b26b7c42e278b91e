"""How a file of ratings becomes reports: plans, bulk draws, and the file they leave in."""
