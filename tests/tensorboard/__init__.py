"""TensorBoard, in an environment of its own, on what we write."""
