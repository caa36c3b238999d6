"""What programs ask XLA to compile: it is marked, and runs as all else does."""
