"""Pooling: maxima and means of sliding windows: signatures, shape functions, gradients, builders."""
