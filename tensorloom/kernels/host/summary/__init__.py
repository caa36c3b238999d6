"""Summaries for TensorBoard: kernels over NumPy values in host memory."""
