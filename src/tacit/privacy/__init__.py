"""What is promised, in which unit, and what was spent of it."""
