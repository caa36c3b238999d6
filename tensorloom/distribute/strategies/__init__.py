"""The strategies, and what they have in common."""
