"""Sound: codecs and spectrograms: signatures, shape functions, gradients, builders."""
