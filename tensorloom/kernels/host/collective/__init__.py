"""Tensors exchanged between devices and tasks: kernels over NumPy values in host memory."""
