"""Queues, readers and accumulators as programs hold them."""
