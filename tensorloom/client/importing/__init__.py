"""`tf.import_graph_def`, and GraphDef messages cut and rewritten."""
