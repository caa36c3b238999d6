"""Recurrent cells as single operations, and beam search: signatures, shape functions, gradients, builders."""
