"""Privacy labels of tasks, models and comparisons, as a page and as JSON."""
