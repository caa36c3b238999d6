"""`tf.saved_model`: models in TensorFlow's SavedModel format, written and loaded.

`builder` writes a directory, `loader` reads one; `signature_defs` and `tensor_info`
make the messages that say how a model is called. `export_directory` is the layout on
disk.
"""
