"""Random numbers: kernels over torch tensors."""
