"""Queues, barriers, accumulators and staging areas: kernels over NumPy values in host memory."""
