"""Privacy labels of tasks, models and comparisons."""
