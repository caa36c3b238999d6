"""Images: codecs, colors, crops, resizing, boxes.

Signatures, shape functions, gradients, builders.
"""
