"""Recurrent cells as single operations, and beam search.

Signatures, shape functions, gradients, builders.
"""
