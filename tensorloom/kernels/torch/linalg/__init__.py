"""Products, decompositions and solutions of matrices: kernels over torch tensors."""
