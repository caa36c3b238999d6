"""Ops of iterators. Builders are in `data/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import no_outputs, scalar_shape
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.data.shapes import output_shapes_attr

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _state(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    return TensorShape.of((None,))


register_op(
    "IteratorV2",
    outputs=["handle: resource"],
    attrs=[
        "shared_name: string",
        "container: string",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="An iterator, to be initialized by MakeIterator.",
)
register_op(
    "Iterator",
    outputs=["handle: resource"],
    attrs=[
        "shared_name: string",
        "container: string",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="An iterator, to be initialized by MakeIterator.",
)
register_op(
    "OneShotIterator",
    outputs=["handle: resource"],
    attrs=[
        "dataset_factory: func",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "container: string = ''",
        "shared_name: string = ''",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="An iterator over the dataset that a function makes.",
)
register_op(
    "AnonymousIterator",
    outputs=["handle: resource"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A new iterator.",
)
register_op(
    "AnonymousIteratorV2",
    outputs=["handle: resource", "deleter: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A new iterator, and what deletes it.",
)
register_op(
    "AnonymousIteratorV3",
    outputs=["handle: resource"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A new iterator.",
)
register_op(
    "DeleteIterator",
    inputs=["handle: resource", "deleter: variant"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Closes an iterator.",
)
register_op(
    "MakeIterator",
    inputs=["dataset: variant", "iterator: resource"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Begins at the first element of a dataset.",
)
register_op(
    "IteratorGetNext",
    inputs=["iterator: resource"],
    outputs=["components: output_types"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=output_shapes_attr,
    stateful=True,
    doc="The components of the next element.",
)
register_op(
    "IteratorGetNextSync",
    inputs=["iterator: resource"],
    outputs=["components: output_types"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=output_shapes_attr,
    stateful=True,
    doc="The components of the next element.",
)
register_op(
    "IteratorGetNextAsOptional",
    inputs=["iterator: resource"],
    outputs=["optional: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The next element, or none at the end.",
)
register_op(
    "IteratorToStringHandle",
    inputs=["resource_handle: resource"],
    outputs=["string_handle: string"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A string that names an iterator.",
)
register_op(
    "IteratorFromStringHandle",
    inputs=["string_handle: string"],
    outputs=["resource_handle: resource"],
    attrs=[
        "output_types: list(type) >= 0 = []",
        "output_shapes: list(shape) >= 0 = []",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The iterator that a string names.",
)
register_op(
    "IteratorFromStringHandleV2",
    inputs=["string_handle: string"],
    outputs=["resource_handle: resource"],
    attrs=[
        "output_types: list(type) >= 0 = []",
        "output_shapes: list(shape) >= 0 = []",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The iterator that a string names.",
)
register_op(
    "IteratorGetDevice",
    inputs=["resource: resource"],
    outputs=["device: string"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The device of an iterator.",
)
register_op(
    "SerializeIterator",
    inputs=["resource_handle: resource"],
    outputs=["serialized: variant"],
    shape_fn=_state,
    stateful=True,
    doc="How far an iterator has come.",
)
register_op(
    "DeserializeIterator",
    inputs=["resource_handle: resource", "serialized: variant"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Brings an iterator to a saved position.",
)
