"""`tf.keras.layers`."""

from __future__ import annotations

from tensorloom.framework.registry.package_modules import lazy_package

__getattr__, __dir__ = lazy_package(
    __name__, "tensorloom.feature_column.layers.dense_features"
)
