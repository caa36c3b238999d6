"""Who may call, and which graphs are run."""
