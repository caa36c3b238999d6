"""From a function to its converted form, and the calls of both."""
