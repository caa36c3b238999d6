"""Queues, barriers, accumulators and staging areas: signatures, shape functions, gradients, builders."""
