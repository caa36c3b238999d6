"""`tf.feature_column`: how features of examples come to a model.

Each kind of column has a module. Columns are values; `input_layer` and `linear_model`
(functions) and `DenseFeatures`, `SequenceFeatures` and `LinearModel` (layers) make
tensors of them.
"""
