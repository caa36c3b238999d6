"""Files, readers, and saving and restoring of checkpoints: signatures, shape functions, gradients, builders."""
