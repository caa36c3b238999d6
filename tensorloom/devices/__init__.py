"""Devices: memory, copies, and which kernels a device kind runs."""
