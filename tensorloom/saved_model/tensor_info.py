"""`TensorInfo`: how a SavedModel names a tensor, and says its dtype and shape."""

from __future__ import annotations

from typing import Any

from tensorloom.client.importing.scoped_names import prepend_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, get_default_graph
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor


@export("saved_model.build_tensor_info", "saved_model.utils.build_tensor_info")
def build_tensor_info(tensor: Any) -> Any:
    """The `TensorInfo` of a `Tensor`, variable, `SparseTensor` or `RaggedTensor`."""
    from tensorloom.protos import meta_graph_pb2

    if isinstance(tensor, RaggedTensor):
        return _ragged_info(tensor)
    info: Any = meta_graph_pb2.TensorInfo(
        dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum,  # type: ignore[arg-type]
        tensor_shape=tensor.get_shape().as_proto(),
    )
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def _ragged_info(tensor: RaggedTensor) -> Any:
    """Its components: the flat values, then the row splits from the outside in."""
    from tensorloom.protos import meta_graph_pb2, struct_pb2

    info: Any = meta_graph_pb2.TensorInfo()
    spec: Any = info.composite_tensor.type_spec
    spec.type_spec_class = struct_pb2.TypeSpecProto.RAGGED_TENSOR_SPEC
    spec.type_spec_class_name = "RaggedTensorSpec"
    state = spec.type_state.tuple_value.values
    state.add().tensor_shape_value.CopyFrom(tensor.shape.as_proto())
    state.add().tensor_dtype_value = tensor.dtype.as_datatype_enum
    state.add().int64_value = tensor.ragged_rank
    state.add().tensor_dtype_value = tensor.row_splits.dtype.as_datatype_enum
    for part in (tensor.flat_values, *tensor.nested_row_splits):
        info.composite_tensor.components.add().CopyFrom(build_tensor_info(part))
    return info


@export(
    "saved_model.get_tensor_from_tensor_info",
    "saved_model.utils.get_tensor_from_tensor_info",
)
def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Any = None, import_scope: str | None = None
) -> Any:
    """The tensor of a graph, sparse or ragged too, that a `TensorInfo` names.

    Args:
      graph: the default graph when None.
      import_scope: what stands before the names in this graph.

    Raises:
      KeyError: the graph has no such tensor.
      ValueError: the message is malformed.
    """
    graph = graph or get_default_graph()

    def find(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return find(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(
            find(parts.indices_tensor_name),
            find(parts.values_tensor_name),
            find(parts.dense_shape_tensor_name),
        )
    if encoding == "composite_tensor":
        return _composite(
            tensor_info.composite_tensor, [find(n) for n in tensor_names(tensor_info)]
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def _composite(message: Any, parts: list[Tensor]) -> Any:
    from tensorloom.protos import struct_pb2

    spec = message.type_spec
    if spec.type_spec_class != struct_pb2.TypeSpecProto.RAGGED_TENSOR_SPEC or not parts:
        raise ValueError(
            "A composite_tensor TensorInfo of "
            f"{spec.type_spec_class_name or 'no known type'} has no tensor of its own: "
            f"its components are {[part.name for part in parts]}"
        )
    flat, *splits = parts
    return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)


def tensor_names(tensor_info: Any) -> list[str]:
    """The names of the tensors that a `TensorInfo` is made of."""
    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return [
            parts.indices_tensor_name,
            parts.values_tensor_name,
            parts.dense_shape_tensor_name,
        ]
    if encoding == "composite_tensor":
        components = tensor_info.composite_tensor.components
        return [name for part in components for name in tensor_names(part)]
    return [tensor_info.name]


def build_tensor_info_from_op(op: Operation) -> Any:
    """A `TensorInfo` that names an operation: of no dtype and no shape."""
    from tensorloom.protos.meta_graph_pb2 import TensorInfo

    return TensorInfo(name=op.name, tensor_shape=TensorShape(None).as_proto())


def element_from_tensor_info(tensor_info: Any, import_scope: str | None) -> Any:
    """The operation or tensor that a `TensorInfo` names in the default graph."""
    return get_default_graph().as_graph_element(
        prepend_scope(tensor_info.name, import_scope)
    )
