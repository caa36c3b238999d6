"""The worker: partitions by device, compiles pieces, and runs them step by step."""
