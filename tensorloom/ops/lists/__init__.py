"""TensorArrays, tensor lists and tensor maps.

Signatures, shape functions, gradients, builders.
"""
