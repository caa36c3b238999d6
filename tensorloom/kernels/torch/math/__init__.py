"""Arithmetic, comparison, reductions, segments and special functions: kernels over torch tensors."""
