"""Queues, barriers, accumulators and staging areas.

Signatures, shape functions, gradients, builders.
"""
