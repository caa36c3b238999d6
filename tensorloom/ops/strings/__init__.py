"""Strings: splitting, hashing, encoding, regular expressions: signatures, shape functions, gradients, builders."""
