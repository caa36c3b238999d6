"""Images: codecs, colors, crops, resizing, boxes.

Kernels over NumPy values in host memory.
"""
