"""Images: codecs, colors, crops, resizing, boxes.

Kernels over torch tensors.
"""
