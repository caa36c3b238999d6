"""Control flow: the classic primitives, functional branches and loops, calls.

Kernels over NumPy values in host memory.
"""
