"""Tensors exchanged between devices and tasks.

Kernels over NumPy values in host memory.
"""
