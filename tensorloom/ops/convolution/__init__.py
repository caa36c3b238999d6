"""Convolutions and other sliding windows with weights: signatures, shape functions, gradients, builders."""
