"""Random numbers: kernels over NumPy values in host memory."""
