"""Images: codecs, colors, crops, resizing, boxes: kernels over NumPy values in host memory."""
