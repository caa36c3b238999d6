"""Ops of embedding tables: rows by int64 keys, which come when they are updated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.training.training_ops import RULES

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_T = "T: {float, double}"
_SCALAR, _VECTOR = TensorShape.of(()), TensorShape.of((None,))
# The rule's numbers that are not of the rows' dtype.
_NUMBER_TYPES = {"global_step": "int64"}
# Names of slots, and what new rows of each hold.
_SLOTS = ["slots: list(string) = []", "fills: list(float) = []"]


def _scalar(c: InferenceContext) -> TensorShape:
    return _SCALAR


def _no_outputs(c: InferenceContext) -> tuple[TensorShape, ...]:
    return ()


def _lookup_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(1).concatenate(TensorShape.of((c.attrs["dim"],)))


def _lookup_grad(op: Operation, grad: Tensor) -> list[Any]:
    """Rows by their keys."""
    keys = reshape_ops.reshape(op.inputs[1], [-1])
    values = reshape_ops.reshape(grad, [-1, op.attrs["dim"]])
    return [IndexedSlices(values, keys), None]


def _apply_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    keys = c.with_rank(c.input_shape(1), 1)
    gradient = c.with_rank(c.input_shape(2), 2)
    c.merge(keys, gradient[:1])
    return ()


def _upsert_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.merge(c.with_rank(1, 1), c.with_rank(c.input_shape(2), 2)[:1])
    return ()


def _export_shape(c: InferenceContext) -> list[TensorShape]:
    rows = TensorShape.of((None, c.attrs["dim"]))
    blocks = [rows] * (1 + len(c.attrs["slots"]))
    return [*[_VECTOR] * 7, _SCALAR, *blocks]


register_op(
    "DynamicEmbeddingTable",
    outputs=["table: resource"],
    attrs=[
        "container: string = ''",
        "shared_name: string = ''",
        _T,
        "dim: int >= 1",
        "initializer: {'constant', 'uniform', 'normal', 'truncated_normal'}",
        "first: float = 0.0",
        "second: float = 0.0",
        "seed: int = 0",
        "filter_freq: int >= 0 = 0",
        "unadmitted_value: float = 0.0",
        "steps_to_live: int >= 0 = 0",
    ],
    shape_fn=_scalar,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The handle of a table of rows by int64 keys.",
)
register_op(
    "DynamicEmbeddingLookup",
    inputs=["table: resource", "keys: int64"],
    outputs=["values: T"],
    attrs=[_T, "dim: int >= 1"],
    shape_fn=_lookup_shape,
    gradient=_lookup_grad,
    stateful=True,
    doc="The rows of keys; a key without row reads what it would begin with.",
)
for _rule in RULES:
    _numbers = [name for name in _rule.inputs if name != _rule.gradient]
    register_op(
        f"DynamicEmbeddingApply{_rule.name}",
        inputs=[
            "table: resource",
            "keys: int64",
            "grad: T",
            "step: int64",
            *(f"{name}: {_NUMBER_TYPES.get(name, 'T')}" for name in _numbers),
        ],
        attrs=[_T, *_SLOTS, *_rule.attrs],
        shape_fn=_apply_shape,
        gradient=NOT_DIFFERENTIABLE,
        stateful=True,
        doc=f"{_rule.doc} For the rows of keys, by the sums of repeated ones.",
    )
register_op(
    "DynamicEmbeddingUpsert",
    inputs=["table: resource", "keys: int64", "values: T", "step: int64"],
    attrs=[_T],
    shape_fn=_upsert_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Sets the rows of keys.",
)
register_op(
    "DynamicEmbeddingRemove",
    inputs=["table: resource", "keys: int64"],
    shape_fn=_no_outputs,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Removes the rows of keys.",
)
register_op(
    "DynamicEmbeddingEvict",
    inputs=["table: resource", "before: int64"],
    outputs=["count: int64"],
    shape_fn=_scalar,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Removes the rows that were not updated since a step; how many.",
)
register_op(
    "DynamicEmbeddingClear",
    inputs=["table: resource"],
    shape_fn=_no_outputs,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Removes all rows.",
)
register_op(
    "DynamicEmbeddingSize",
    inputs=["table: resource"],
    outputs=["size: int64"],
    shape_fn=_scalar,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="How many keys have a row.",
)
register_op(
    "DynamicEmbeddingExport",
    inputs=["table: resource", "since: int64"],
    outputs=[
        "keys: int64",
        "freqs: int64",
        "steps: int64",
        "counted_keys: int64",
        "counted_freqs: int64",
        "counted_steps: int64",
        "gone: int64",
        "save: int64",
        "blocks: N * T",
    ],
    attrs=[_T, "N: int >= 1", "dim: int >= 1", *_SLOTS],
    shape_fn=_export_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="What changed since a save (0: all); values and slots are in blocks.",
)
register_op(
    "DynamicEmbeddingImport",
    inputs=[
        "table: resource",
        "keys: int64",
        "freqs: int64",
        "steps: int64",
        "counted_keys: int64",
        "counted_freqs: int64",
        "counted_steps: int64",
        "blocks: N * T",
    ],
    attrs=[_T, "N: int >= 1", *_SLOTS],
    shape_fn=_no_outputs,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Makes a table what another one was when it was exported.",
)
register_op(
    "DynamicEmbeddingKeepGone",
    inputs=["table: resource", "since: int64"],
    outputs=["save: int64"],
    shape_fn=_scalar,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Numbers a save, since which changes count; forgets those before another.",
)
register_op(
    "DynamicEmbeddingRestore",
    inputs=["table: resource", "prefix: string"],
    attrs=[
        "name_in_checkpoint: string",
        "shard: int >= 0",
        "num_shards: int >= 1",
        "is_increment: bool = false",
        "slots_required: bool = true",
        *_SLOTS,
    ],
    shape_fn=_no_outputs,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Takes over this shard's keys of a checkpoint, of however many shards that is.",
)


def apply_rule(
    table: Any,
    keys: Any,
    grad: Any,
    step: Any,
    rule: str,
    slots: dict[str, float],
    arguments: dict[str, Any],
) -> Operation:
    """The operation that updates the rows of keys.

    Args:
      keys: int64 [n].
      grad: [n, dim].
      step: the global step, int64.
      rule: the name of the rule, such as "Adam".
      slots: what new rows of each slot hold.
      arguments: the rule's numbers and attrs.
    """
    result: Operation = apply_op(
        f"DynamicEmbeddingApply{rule}",
        table=table,
        keys=keys,
        grad=grad,
        step=step,
        slots=list(slots),
        fills=list(slots.values()),
        **arguments,
    )
    return result
