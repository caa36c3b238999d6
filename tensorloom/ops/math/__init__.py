"""Arithmetic, comparison, reductions, segments and special functions: signatures, shape functions, gradients, builders."""
