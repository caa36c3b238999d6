"""Python functions as functions of a graph: `Defun`, `tf.function`."""
