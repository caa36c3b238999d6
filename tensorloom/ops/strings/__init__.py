"""Strings: splitting, hashing, encoding, regular expressions.

Signatures, shape functions, gradients, builders.
"""
