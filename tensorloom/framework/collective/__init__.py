"""What kernels say of collectives, within and among tasks and processes."""
