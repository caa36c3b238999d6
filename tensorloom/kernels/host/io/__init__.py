"""Files, readers, and saving and restoring of checkpoints.

Kernels over NumPy values in host memory.
"""
