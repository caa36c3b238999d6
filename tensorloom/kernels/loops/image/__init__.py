"""Images: codecs, colors, crops, resizing, boxes.

Loops that numba compiles.
"""
