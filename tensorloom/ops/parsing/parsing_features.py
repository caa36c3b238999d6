"""`parse_example` and relatives: features described in Python, parsed by the ops."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import array_ops
from tensorloom.ops.sparse import sparse_builders

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


@export("io.VarLenFeature", "VarLenFeature")
class VarLenFeature(namedtuple("VarLenFeature", ["dtype"])):
    """A feature of any number of values, parsed as a SparseTensor."""

    __slots__ = ()


@export("io.FixedLenFeature", "FixedLenFeature")
class FixedLenFeature(
    namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])
):
    """A feature of a fixed shape; without a default it must be there."""

    __slots__ = ()

    def __new__(
        cls, shape: Any, dtype: Any, default_value: Any = None
    ) -> FixedLenFeature:
        """Makes the description."""
        return super().__new__(cls, shape, dtype, default_value)


@export("io.FixedLenSequenceFeature", "FixedLenSequenceFeature")
class FixedLenSequenceFeature(
    namedtuple(
        "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"]
    )
):
    """A feature of any number of steps of a fixed shape, parsed as a dense tensor."""

    __slots__ = ()

    def __new__(
        cls,
        shape: Any,
        dtype: Any,
        allow_missing: bool = False,
        default_value: Any = None,
    ) -> FixedLenSequenceFeature:
        """Makes the description."""
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


@export("io.SparseFeature", "SparseFeature")
class SparseFeature(
    namedtuple(
        "SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"]
    )
):
    """A SparseTensor of several features: indices (one for each dimension) and values.

    `index_key` and `size` are a key and a size, or lists of them.
    """

    __slots__ = ()

    def __new__(
        cls,
        index_key: Any,
        value_key: Any,
        dtype: Any,
        size: Any,
        already_sorted: bool = False,
    ) -> SparseFeature:
        """Makes the description."""
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)

    def index_keys(self) -> list[str]:
        """The keys of the indices."""
        key = self.index_key
        return [key] if isinstance(key, str) else list(key)


# --- from descriptions to what the ops take ---------------------------------------


@dataclass
class _Plan:
    """The features by kind, in the order of their keys."""

    sparse_keys: list[str] = field(default_factory=list)
    sparse_types: list[DType] = field(default_factory=list)
    dense_keys: list[str] = field(default_factory=list)
    dense_types: list[DType] = field(default_factory=list)
    dense_shapes: list[TensorShape] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)
    allow_missing: list[str] = field(default_factory=list)

    def outputs(self, parts: Any) -> dict[str, Any]:
        """What was parsed, by key: the op's outputs, sparse ones first."""
        n = len(self.sparse_keys)
        parts = list(parts)
        found: dict[str, Any] = {
            key: SparseTensor(parts[i], parts[n + i], parts[2 * n + i])
            for i, key in enumerate(self.sparse_keys)
        }
        found.update(zip(self.dense_keys, parts[3 * n :], strict=True))
        return found

    def add_sparse(self, key: str, dtype: DType) -> None:
        """Asks for a list; two descriptions may share one.

        Raises:
          ValueError: it is asked for with another dtype too.
        """
        if key not in self.sparse_keys:
            self.sparse_keys.append(key)
            self.sparse_types.append(dtype)
            return
        other = self.sparse_types[self.sparse_keys.index(key)]
        if other != dtype:
            shown = "int64" if dtype == dtypes.int64 else dtype
            raise ValueError(f"Conflicting type {other} vs {shown} for feature {key}.")


def _plan(features: Mapping[str, Any], kinds: tuple[Any, ...]) -> _Plan:
    plan = _Plan()
    for key in sorted(features):
        feature: Any = features[key]
        _check_kind(key, feature, kinds)
        if isinstance(feature, SparseFeature):
            _plan_sparse(plan, key, feature)
            continue
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        dtype = dtypes.as_dtype(feature.dtype)
        if isinstance(feature, VarLenFeature):
            plan.add_sparse(key, dtype)
            continue
        _check_shape(key, feature)
        plan.dense_keys.append(key)
        plan.dense_types.append(dtype)
        plan.dense_shapes.append(as_shape(feature.shape))
        if isinstance(feature, FixedLenSequenceFeature) and feature.allow_missing:
            plan.allow_missing.append(key)
        if feature.default_value is not None:
            plan.defaults[key] = feature.default_value
    return plan


def _check_kind(key: str, feature: Any, kinds: tuple[Any, ...]) -> None:
    every = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)
    for kind in every:
        if isinstance(feature, kind):
            if kind not in kinds:
                raise ValueError(f"Unsupported {kind.__name__} {feature}.")
            return
    raise ValueError(f"Invalid feature {key}:{feature}.")


def _plan_sparse(plan: _Plan, key: str, feature: SparseFeature) -> None:
    for what in ("index_key", "value_key"):
        if not getattr(feature, what):
            raise ValueError(f"Missing {what} for SparseFeature {feature}.")
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    for index_key in sorted(feature.index_keys()):
        plan.add_sparse(index_key, dtypes.int64)
    plan.add_sparse(feature.value_key, dtypes.as_dtype(feature.dtype))


def _check_shape(key: str, feature: Any) -> None:
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    if isinstance(feature, FixedLenSequenceFeature):
        return
    shape = as_shape(feature.shape)
    dims = shape.dims_tuple
    if dims and dims[0] is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using "
            "FixedLenSequenceFeature."
        )
    if not shape.is_fully_defined():
        raise ValueError(
            f"All dimensions of shape for feature {key} need to be known but received "
            f"{feature.shape!s}."
        )


def _merged(features: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What was parsed, with a SparseTensor for each SparseFeature."""
    if not any(isinstance(f, SparseFeature) for f in features.values()):
        return found
    result = dict(found)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            ids: Any = [result[index_key] for index_key in feature.index_keys()]
            if isinstance(feature.index_key, str):
                ids = ids[0]
            result[key] = sparse_builders.sparse_merge(
                ids,
                result[feature.value_key],
                vocab_size=feature.size,
                already_sorted=feature.already_sorted,
            )
    return {key: value for key, value in result.items() if key in features}


def _with_rows(features: Mapping[str, Any], plan: _Plan) -> None:
    """Sequences in an Example have a first dimension that is not known."""
    for i, key in enumerate(plan.dense_keys):
        feature = features[key]
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to "
                    "be True."
                )
            steps = TensorShape.of((None,))
            plan.dense_shapes[i] = steps.concatenate(plan.dense_shapes[i])


def _defaults(plan: _Plan) -> list[Any]:
    """For each dense feature its default, an empty vector where there is none."""
    found = []
    columns = zip(plan.dense_keys, plan.dense_types, plan.dense_shapes, strict=True)
    for key, dtype, shape in columns:
        value = plan.defaults.get(key)
        dims = shape.dims_tuple
        if dims and dims[0] is None:
            # The padding of variable sequences.
            if value is None:
                padding = "" if dtype == dtypes.string else 0
                found.append(convert_to_tensor(padding, dtype=dtype))
                continue
            tensor = convert_to_tensor(value, dtype, name=_key_name(key, "padding_"))
            found.append(array_ops.reshape(tensor, []))
        elif value is None:
            found.append(array_ops.constant([], dtype=dtype))
        else:
            tensor = convert_to_tensor(value, dtype=dtype, name=_key_name(key))
            found.append(array_ops.reshape(tensor, shape))
    return found


def _key_name(key: str, prefix: str = "key_") -> str:
    return prefix + re.sub("[^A-Za-z0-9_.\\-/]", "_", key)


# --- builders ---------------------------------------------------------------------


@export("io.parse_example", "parse_example")
def parse_example(
    serialized: Any,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """The features of serialized Examples [batch], tensors and SparseTensors by key.

    Args:
      features: FixedLenFeature, VarLenFeature, SparseFeature or
        FixedLenSequenceFeature by key.

    Raises:
      ValueError: no features, or one of another kind.
    """
    plan = _example_plan(features)
    with name_scope(name, "ParseExample", [serialized, example_names]):
        defaults = _defaults(plan)
        parts = apply_op(
            "ParseExample",
            name="ParseExample",
            serialized=serialized,
            names=[] if example_names is None else example_names,
            sparse_keys=plan.sparse_keys,
            dense_keys=plan.dense_keys,
            dense_defaults=defaults,
            sparse_types=plan.sparse_types,
            dense_shapes=plan.dense_shapes,
        )
        # Sparse features are named in the scope.
        outputs = plan.outputs(_flat(parts))
    return _merged(features, outputs)


def _example_plan(features: Mapping[str, Any]) -> _Plan:
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    kinds = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)
    plan = _plan(features, kinds)
    _with_rows(features, plan)
    return plan


def _flat(parts: Any) -> list[Any]:
    """The outputs of an op one after another, list outputs unpacked."""
    flat: list[Any] = []
    for part in parts if isinstance(parts, list | tuple) else [parts]:
        flat += part if isinstance(part, list | tuple) else [part]
    return flat


@export("io.parse_single_example", "parse_single_example")
def parse_single_example(
    serialized: Any,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """The features of one serialized Example, as `parse_example` without the batch.

    Raises:
      ValueError: no features, or one of another kind.
    """
    plan = _example_plan(features)
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        serialized = convert_to_tensor(serialized, name="serialized")
        defaults = _defaults(plan)
        parts = apply_op(
            "ParseSingleExample",
            name="ParseSingleExample",
            serialized=serialized,
            dense_defaults=defaults,
            num_sparse=len(plan.sparse_keys),
            sparse_keys=plan.sparse_keys,
            sparse_types=plan.sparse_types,
            dense_keys=plan.dense_keys,
            dense_shapes=plan.dense_shapes,
        )
        # Sparse features are named in the scope.
        outputs = plan.outputs(_flat(parts))
    return _merged(features, outputs)


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """(context, sequences, lengths) of serialized SequenceExamples [batch], by key.

    Dense sequences are padded to the longest of the batch; `lengths` has their int64
    [batch].

    Raises:
      ValueError: no features, or one of another kind.
    """
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = _plan(context_features or {}, (VarLenFeature, FixedLenFeature))
    lists = _plan(sequence_features or {}, (VarLenFeature, FixedLenSequenceFeature))
    with name_scope(name, "ParseSequenceExample", [serialized]):
        defaults = []
        for key, dtype in zip(context.dense_keys, context.dense_types, strict=True):
            value = context.defaults.get(key)
            if value is None:
                defaults.append(array_ops.constant([], dtype=dtype))
            else:
                defaults.append(convert_to_tensor(value, dtype, name=_key_name(key)))
        parts = apply_op(
            "ParseSequenceExample",
            name=name,
            serialized=serialized,
            debug_name=[] if example_names is None else example_names,
            Ncontext_sparse=len(context.sparse_keys),
            Ncontext_dense=len(context.dense_keys),
            Nfeature_list_sparse=len(lists.sparse_keys),
            Nfeature_list_dense=len(lists.dense_keys),
            context_dense_defaults=defaults,
            feature_list_dense_missing_assumed_empty=lists.allow_missing,
            **_keys("context", context),
            **_keys("feature_list", lists),
            feature_list_dense_types=lists.dense_types,
        )
    flat = _flat(parts)
    count = 3 * len(context.sparse_keys) + len(context.dense_keys)
    end = len(flat) - len(lists.dense_keys)
    lengths = dict(zip(lists.dense_keys, flat[end:], strict=True))
    return context.outputs(flat[:count]), lists.outputs(flat[count:end]), lengths


@export("io.parse_single_sequence_example", "parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(context, sequences) of one serialized SequenceExample, tensors by key.

    Raises:
      ValueError: no features, or one of another kind.
    """
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = _plan(context_features or {}, (VarLenFeature, FixedLenFeature))
    lists = _plan(sequence_features or {}, (VarLenFeature, FixedLenSequenceFeature))
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        defaults = _defaults(context)
        parts = apply_op(
            "ParseSingleSequenceExample",
            name="ParseSingleSequenceExample",
            serialized=serialized,
            debug_name="" if example_name is None else example_name,
            context_dense_defaults=defaults,
            feature_list_dense_missing_assumed_empty=np.array(
                [key.encode() for key in lists.allow_missing], object
            ),
            **_keys("context", context),
            **_keys("feature_list", lists),
            feature_list_dense_types=lists.dense_types,
        )
    flat = _flat(parts)
    count = 3 * len(context.sparse_keys) + len(context.dense_keys)
    return context.outputs(flat[:count]), lists.outputs(flat[count:])


def _keys(what: str, plan: _Plan) -> dict[str, Any]:
    return {
        f"{what}_sparse_keys": plan.sparse_keys,
        f"{what}_dense_keys": plan.dense_keys,
        f"{what}_sparse_types": plan.sparse_types,
        f"{what}_dense_shapes": plan.dense_shapes,
    }
