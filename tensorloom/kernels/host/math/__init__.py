"""Arithmetic, comparison, reductions, segments and special functions: kernels over NumPy values in host memory."""
