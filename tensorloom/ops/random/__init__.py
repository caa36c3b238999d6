"""Random numbers: signatures, shape functions, gradients, builders."""
