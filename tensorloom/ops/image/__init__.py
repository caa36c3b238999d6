"""Images: codecs, colors, crops, resizing, boxes: signatures, shape functions, gradients, builders."""
