"""Elements and rows of tensors picked, placed and sorted out by index or condition: kernels over NumPy values in host memory."""
