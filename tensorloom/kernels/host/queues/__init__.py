"""Queues, barriers, accumulators and staging areas.

Kernels over NumPy values in host memory.
"""
