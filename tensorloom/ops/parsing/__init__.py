"""Examples, CSV, JSON and protocol messages parsed.

Signatures, shape functions, gradients, builders.
"""
