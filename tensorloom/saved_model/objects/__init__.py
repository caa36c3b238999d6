"""`tf.saved_model.save` and `load_v2`: objects with their functions as SavedModels.

`object_view` lists the objects and functions of a root, `export_graph` makes the graph
that sessions and servers run, `save` writes both. `function_library` makes functions of
the messages again, `restored_objects` the objects, `load` puts them together.
"""
