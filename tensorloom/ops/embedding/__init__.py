"""Embedding tables: signatures, shape functions and gradients."""
