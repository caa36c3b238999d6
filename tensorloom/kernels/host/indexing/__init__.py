"""Elements and rows of tensors picked, placed and sorted out by index or condition.

Kernels over NumPy values in host memory.
"""
