"""A graph cut into one for each device or task, and what keeps loops in step."""
