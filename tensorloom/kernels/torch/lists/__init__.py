"""TensorArrays, tensor lists and tensor maps.

Kernels over torch tensors.
"""
