"""Images: codecs, colors, crops, resizing, boxes: loops that numba compiles."""
