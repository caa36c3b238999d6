"""The feature columns of `tf.contrib.layers`, as models use them."""

from __future__ import annotations

from typing import Any

from tensorloom.framework import export


def _layers(name: str, *args: Any, **kwargs: Any) -> Any:
    return export.find(f"contrib.layers.{name}")(*args, **kwargs)


def infer_real_valued_columns(features: Any) -> list[Any]:
    """A real-valued column for each feature."""
    found: list[Any] = _layers("infer_real_valued_columns", features)
    return found


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """What Examples have that hold the features of these columns."""
    spec: dict[str, Any] = _layers("create_feature_spec_for_parsing", feature_columns)
    return spec
