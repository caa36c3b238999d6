"""Updates of variables by optimizers, and training algorithms as operations: kernels over NumPy values in host memory."""
