"""Examples, CSV, JSON and protocol messages parsed: signatures, shape functions, gradients, builders."""
