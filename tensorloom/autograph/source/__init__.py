"""From a Python function to its syntax tree."""
