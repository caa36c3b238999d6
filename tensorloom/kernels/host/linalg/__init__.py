"""Products, decompositions and solutions of matrices: kernels over NumPy values in host memory."""
