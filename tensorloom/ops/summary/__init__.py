"""Summaries for TensorBoard.

Signatures, shape functions, gradients, builders.
"""
