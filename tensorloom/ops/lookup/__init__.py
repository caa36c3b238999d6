"""Lookup tables and vocabularies.

Signatures, shape functions, gradients, builders.
"""
