"""Recurrent cells as single operations, and beam search: kernels over NumPy values in host memory."""
