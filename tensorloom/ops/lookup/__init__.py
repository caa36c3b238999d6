"""Lookup tables and vocabularies: signatures, shape functions, gradients, builders."""
