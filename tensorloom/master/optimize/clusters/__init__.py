"""Nodes that are compiled together: which, and how they become one node."""
