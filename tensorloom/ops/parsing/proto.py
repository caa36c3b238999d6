"""Protocol messages to tensors of their fields, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _decoded_shape(c: InferenceContext) -> list[TensorShape]:
    """Sizes [..., fields], and values [..., most values] of each field."""
    outer = c.input_shape(0)
    dims = outer.dims_tuple
    if dims is None:
        return [outer] * c.num_outputs
    fields = len(c.attrs["output_types"])
    values = TensorShape.of((*dims, None))
    return [TensorShape.of((*dims, fields)), *[values] * fields]


def _encoded_shape(c: InferenceContext) -> TensorShape:
    """[...] of values [..., most values]; sizes are looked at by the kernel alone."""
    outer = TensorShape.of(None)
    for index in range(1, c.num_inputs):
        dims = c.with_rank_at_least(index, 2).dims_tuple
        if dims is not None:
            outer = c.merge(outer, TensorShape.of(dims[:-1]))
    return outer


register_op(
    "DecodeProtoV2",
    inputs=["bytes: string"],
    outputs=["sizes: int32", "values: output_types"],
    attrs=[
        "message_type: string",
        "field_names: list(string)",
        "output_types: list(type) >= 0",
        "descriptor_source: string = 'local://'",
        "message_format: string = 'binary'",
        "sanitize: bool = false",
    ],
    shape_fn=_decoded_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Fields of serialized protocol messages.",
)

register_op(
    "EncodeProto",
    inputs=["sizes: int32", "values: Tinput_types"],
    outputs=["bytes: string"],
    attrs=[
        "field_names: list(string)",
        "message_type: string",
        "descriptor_source: string = 'local://'",
        "Tinput_types: list(type) >= 1",
    ],
    shape_fn=_encoded_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Serialized protocol messages of the values of their fields.",
)


@export("io.decode_proto")
def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: Any = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """Fields of serialized protocol messages.

    Args:
      bytes: messages [...], strings.
      message_type: the name of their type, with its package.
      field_names: which fields.
      output_types: the dtype of each; messages inside are strings.
      descriptor_source: "local://" for types of this process, the name of a file with a
        FileDescriptorSet, or "bytes://" and such a set.
      message_format: "binary" or "text".
      sanitize: whether to parse and write messages anew first.
      name: of the operation.

    Returns:
      (sizes, values): how many values each field has in each message, [..., fields],
      and for each field [..., most values], filled up with its default.
    """
    return apply_op(
        "DecodeProtoV2",
        bytes=bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=output_types,
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


@export("io.encode_proto")
def encode_proto(
    sizes: Any,
    values: Sequence[Any],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: Any = "local://",
    name: str | None = None,
) -> Tensor:
    """Serialized protocol messages.

    Args:
      sizes: [..., fields]: how many values each field has in each message.
      values: for each field [..., most values].
      field_names: which fields.
      message_type: the name of the messages' type, with its package.
      descriptor_source: as `decode_proto` takes it.
      name: of the operation.

    Returns:
      Strings [...].
    """
    return apply_op(  # type: ignore[no-any-return]
        "EncodeProto",
        sizes=sizes,
        values=values,
        field_names=field_names,
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )
