"""Checks, debugging, logging and memory statistics.

Signatures, shape functions, gradients, builders.
"""
