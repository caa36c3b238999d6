"""Building control flow of classic nodes: Switch, Merge, Enter, Exit, NextIteration."""
