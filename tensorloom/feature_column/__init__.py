"""`tf.feature_column`: how features of examples come to a model.

Each kind of column has a module. Columns are values; `input_layer` and `linear_model`
(functions) and `DenseFeatures`, `SequenceFeatures` and `LinearModel` (layers) make
tensors of them.
"""

from __future__ import annotations

from tensorloom.framework.registry.package_modules import lazy_package

__getattr__, __dir__ = lazy_package(__name__)
