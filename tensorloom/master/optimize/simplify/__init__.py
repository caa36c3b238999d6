"""Passes that remove nodes, or put cheaper ones in their place."""
