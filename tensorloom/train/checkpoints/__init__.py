"""Saving and restoring: `Saver`, object-based checkpoints, warm starts."""
