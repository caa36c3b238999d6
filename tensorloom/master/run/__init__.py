"""Steps over tasks: parts registered, run together, cancelled together."""
