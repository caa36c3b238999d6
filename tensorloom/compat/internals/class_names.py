"""Values as JSON can hold them (`tensorflow.python.util.serialization`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def get_json_type(obj: Any) -> Any:
    """What stands for a value in JSON: a default for `json.dumps`.

    Raises:
      TypeError: nothing does.
    """
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

    if hasattr(obj, "get_config"):
        return {"class_name": type(obj).__name__, "config": obj.get_config()}
    if isinstance(obj, np.ndarray | np.generic):
        return obj.tolist()
    if isinstance(obj, DType):
        return obj.name
    if isinstance(obj, TensorShape):
        return obj.as_list()
    if isinstance(obj, Mapping):
        return dict(obj)
    if callable(obj):
        return getattr(obj, "__name__", str(obj))
    raise TypeError("Not JSON Serializable:", obj)
