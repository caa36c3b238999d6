"""Images: codecs, colors, crops, resizing, boxes: kernels over torch tensors."""
