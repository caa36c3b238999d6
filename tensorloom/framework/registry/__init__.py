"""Which ops, kernels and gradients there are, and how one is applied."""
