"""Products, decompositions and solutions of matrices: signatures, shape functions, gradients, builders."""
