"""What `tf.keras.backend` says of numbers, images and tensors."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.sparse_tensor import SparseTensor


@export("keras.backend.epsilon")
def epsilon() -> float:
    """The small number that keeps quotients and logarithms finite."""
    return 1e-7


@export("keras.backend.floatx")
def floatx() -> str:
    """The name of the dtype of floats."""
    return "float32"


@export("keras.backend.image_data_format")
def image_data_format() -> str:
    """Where images have their channels."""
    return "channels_last"


@export("keras.backend.is_sparse")
def is_sparse(tensor: Any) -> bool:
    """Whether this is a sparse tensor."""
    return isinstance(tensor, SparseTensor)
