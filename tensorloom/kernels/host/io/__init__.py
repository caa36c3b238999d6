"""Files, readers, and saving and restoring of checkpoints: kernels over NumPy values in host memory."""
