"""Examples, CSV, JSON and protocol messages parsed: kernels over NumPy values in host memory."""
