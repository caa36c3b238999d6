"""Updates of variables by optimizers, and training algorithms as operations: signatures, shape functions, gradients, builders."""
