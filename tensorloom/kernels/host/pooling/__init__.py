"""Pooling: maxima and means of sliding windows: kernels over NumPy values in host memory."""
