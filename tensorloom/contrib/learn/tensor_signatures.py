"""What is known of the tensors that a model was trained with."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array.placeholder import placeholder, sparse_placeholder
from tensorloom.ops.math.cast import cast
from tensorloom.ops.parsing.parsing_features import (
    FixedLenFeature,
    VarLenFeature,
    parse_example,
)

_Fields = namedtuple("_Fields", ["dtype", "shape", "is_sparse"])
# What `tf.Example` keeps such values as.
_STORED_AS = {dtypes.int32: dtypes.int64, dtypes.float64: dtypes.float32}


class TensorSignature(_Fields):
    """A tensor's dtype, its shape, and whether it is sparse."""

    __slots__ = ()

    def __new__(cls, tensor: Any) -> TensorSignature:
        """The signature of a tensor or SparseTensor."""
        if isinstance(tensor, SparseTensor):
            dtype = tensor.values.dtype
            return super().__new__(cls, dtype=dtype, shape=None, is_sparse=True)
        shape = tensor.get_shape()
        return super().__new__(cls, dtype=tensor.dtype, shape=shape, is_sparse=False)

    def is_compatible_with(self, other: TensorSignature) -> bool:
        """Whether tensors of the two fit one model; batches may be of any size."""
        if not self.dtype.is_compatible_with(other.dtype):
            return False
        if other.is_sparse or self.is_sparse:
            return bool(other.is_sparse and self.is_sparse)
        mine, others = self.shape, as_shape(other.shape)
        if mine.dims is None or others.dims is None:
            return True
        return mine.ndims == others.ndims and (
            TensorShape(mine.dims[1:]).is_compatible_with(TensorShape(others.dims[1:]))
        )

    def get_placeholder(self) -> Any:
        """A placeholder for such a tensor, of a batch of any size."""
        if self.is_sparse:
            return sparse_placeholder(dtype=self.dtype)
        return placeholder(dtype=self.dtype, shape=[None, *list(self.shape[1:])])

    def get_feature_spec(self) -> Any:
        """How it is parsed out of `tf.Example`s."""
        dtype = _STORED_AS.get(self.dtype, self.dtype)
        if self.is_sparse:
            return VarLenFeature(dtype=dtype)
        return FixedLenFeature(shape=self.shape[1:], dtype=dtype)


def tensors_compatible(tensors: Any, signatures: Any) -> bool:
    """Whether a tensor, or a dict of them, fits signatures."""
    if tensors is None:
        return signatures is None
    if isinstance(tensors, dict) != isinstance(signatures, dict) or signatures is None:
        return False
    if not isinstance(tensors, dict):
        return TensorSignature(tensors).is_compatible_with(signatures)
    return all(
        key in tensors
        and TensorSignature(tensors[key]).is_compatible_with(signatures[key])
        for key in signatures
    )


def create_signatures(tensors: Any) -> Any:
    """The signatures of a tensor, a dict of them, or None."""
    if isinstance(tensors, dict):
        return {key: TensorSignature(tensor) for key, tensor in tensors.items()}
    return None if tensors is None else TensorSignature(tensors)


def create_placeholders_from_signatures(signatures: Any) -> Any:
    """Placeholders for what `create_signatures` gave."""
    if isinstance(signatures, dict):
        return {key: one.get_placeholder() for key, one in signatures.items()}
    return None if signatures is None else signatures.get_placeholder()


def create_example_parser_from_signatures(
    signatures: Any, examples_batch: Any, single_feature_name: str = "feature"
) -> Any:
    """Parses serialized Examples into tensors of these signatures.

    Args:
      signatures: one, or a dict of them.
      examples_batch: string [batch].
      single_feature_name: the key of the feature where there is one signature.
    """
    single = not isinstance(signatures, dict)
    by_key = {single_feature_name: signatures} if single else signatures
    features = parse_example(
        examples_batch, {key: one.get_feature_spec() for key, one in by_key.items()}
    )
    for key, one in by_key.items():
        if not one.dtype.is_compatible_with(features[key].dtype):
            features[key] = cast(features[key], one.dtype)
    return features[single_feature_name] if single else features
