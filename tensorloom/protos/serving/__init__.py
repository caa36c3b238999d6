"""Messages and services of the model server: TensorFlow Serving's, and others'."""
