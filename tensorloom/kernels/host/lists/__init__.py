"""TensorArrays, tensor lists and tensor maps.

Kernels over NumPy values in host memory.
"""
