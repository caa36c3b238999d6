"""Checks, debugging, logging and memory statistics: signatures, shape functions, gradients, builders."""
