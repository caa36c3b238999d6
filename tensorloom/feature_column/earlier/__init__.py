"""The interface of columns before TensorFlow 1.13, still served.

Functions such as `tf.feature_column.input_layer` call its methods (`_get_dense_tensor`,
...), and programs derive columns of their own from its base classes.
"""
