"""A device for every node."""
