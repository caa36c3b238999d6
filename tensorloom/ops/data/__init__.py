"""Datasets, iterators and optionals: signatures, shape functions, gradients, builders."""
