"""Tensors exchanged between devices and tasks: signatures, shape functions, gradients, builders."""
