"""An ONNX graph in the making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tensorloom.deploy.body_nodes import Body, BodyNode
from tensorloom.deploy.onnx.registry import BUILDERS
from tensorloom.deploy.program import Refusal, Unexportable
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.framework.types.dtypes import DType

ELEMENT_TYPES: Final = {
    dtypes.float32: TensorProto.FLOAT,
    dtypes.float64: TensorProto.DOUBLE,
    dtypes.float16: TensorProto.FLOAT16,
    dtypes.bfloat16: TensorProto.BFLOAT16,
    dtypes.int8: TensorProto.INT8,
    dtypes.int16: TensorProto.INT16,
    dtypes.int32: TensorProto.INT32,
    dtypes.int64: TensorProto.INT64,
    dtypes.uint8: TensorProto.UINT8,
    dtypes.uint16: TensorProto.UINT16,
    dtypes.uint32: TensorProto.UINT32,
    dtypes.uint64: TensorProto.UINT64,
    dtypes.bool: TensorProto.BOOL,
    dtypes.string: TensorProto.STRING,
}


class Model:
    """What all graphs of a model share: names, constants, refusals."""

    def __init__(self, graph: GraphIR, tables: Mapping[str, tuple[Any, Any]]) -> None:
        self.graph = graph
        self.tables = tables
        self.refusals: list[Refusal] = []
        self.initializers: list[TensorProto] = []
        self.domains: set[str] = {""}
        self._constants: dict[bytes, str] = {}
        self._count = 0

    def fresh(self, hint: str) -> str:
        """A name that nothing else has: subgraphs see the names around them."""
        self._count += 1
        return f"{hint.replace(':', '_')}__{self._count}"

    def constant(self, value: Any) -> str:
        """The name of an array."""
        array = np.asarray(value)
        if array.dtype == object:
            texts = [v if isinstance(v, bytes) else str(v).encode() for v in array.flat]
            proto = TensorProto(
                data_type=TensorProto.STRING, dims=array.shape, string_data=texts
            )
        else:
            proto = numpy_helper.from_array(
                np.ascontiguousarray(array).reshape(array.shape)
            )
        key = proto.SerializeToString(deterministic=True)
        if key not in self._constants:
            proto.name = self._constants[key] = self.fresh("const")
            self.initializers.append(proto)
        return self._constants[key]


class Scope(Body):
    """A graph, or the body of a loop or branch."""

    def __init__(
        self, model: Model, nodes: Mapping[str, Node], values: dict[Edge, str]
    ) -> None:
        super().__init__(nodes, values)
        self.model = model
        self.made: list[Any] = []
        #: By the name of a value with channels last, the one with channels first.
        self.channels_first: dict[str, str] = {}
        #: Contents of TensorArrays, by the tensors of their flow.
        self.arrays: dict[Edge, Any] = {}
        #: How many elements of those were written, in order, by their flow.
        self.written: dict[Edge, int] = {}
        #: As `written`, of arrays that are filled from their last element on.
        self.written_from_end: dict[Edge, int] = {}

    def emit(
        self, op: str, *inputs: str, outputs: int = 1, domain: str = "", **attrs: Any
    ) -> list[str]:
        """Adds a node; gives the names of its outputs."""
        names = [self.model.fresh(op) for _ in range(outputs)]
        self.model.domains.add(domain)
        made = helper.make_node(op, list(inputs), names, domain=domain, **attrs)
        self.made.append(made)
        return names

    def build(self) -> None:
        """Writes all nodes; those that cannot be are noted, and the next are tried."""
        for node in self.nodes.values():
            if node.op in ("_Arg", "_Retval", "NoOp", "Assert"):
                continue
            try:
                made = self._built(node)
            except Unexportable as reason:
                self.model.refusals.append(Refusal(node.name, node.op, str(reason)))
                made = [""] * max(1, len(node.output_types))
            for output, name in enumerate(made):
                self.values.setdefault((node.name, output), name)

    def _built(self, node: Node) -> list[str]:
        if node.op == "Const":
            return [self.model.constant(node.attrs["value"])]
        build = BUILDERS.get(node.op)
        if build is None:
            raise Unexportable("no ONNX form of this op is known")
        made = build(Site(self, node))
        return [made] if isinstance(made, str) else list(made)


class Site(BodyNode):
    """A node that is written: what its builder sees."""

    def __init__(self, scope: Scope, node: Node) -> None:
        super().__init__(scope, node)
        self.scope = scope
        self.model = scope.model

    def rank(self, at: int) -> int:
        """The rank of an input. Raises Unexportable if it is not known."""
        rank = self.shape(at).ndims
        if rank is None:
            raise Unexportable(f"the rank of input {at} is not known")
        return int(rank)

    def output_rank(self) -> int:
        """The rank of the only output. Raises Unexportable if it is not known."""
        shapes = self.node.output_shapes
        if shapes is None or shapes[0].ndims is None:
            raise Unexportable("the rank of its output is not known")
        return int(shapes[0].ndims)

    def dtype(self, at: int = 0) -> DType:
        """The dtype of an output."""
        return self.node.output_types[at]

    def element_type(self, dtype: DType) -> int:
        """ONNX's number of a dtype. Raises Unexportable if it has none."""
        found = ELEMENT_TYPES.get(dtype)
        if found is None:
            raise Unexportable(f"ONNX has no {dtype.name}")
        return int(found)

    def op(self, op: str, *inputs: str, **attrs: Any) -> str:
        """Adds a node with one output."""
        return self.scope.emit(op, *inputs, **attrs)[0]

    def ops(self, op: str, *inputs: str, outputs: int, **attrs: Any) -> list[str]:
        """Adds a node with several outputs."""
        return self.scope.emit(op, *inputs, outputs=outputs, **attrs)

    def value(self, array: Any, dtype: Any = None) -> str:
        """A constant."""
        return self.model.constant(np.asarray(array, dtype))

    def ints(self, *values: int) -> str:
        """A vector of int64."""
        return self.value(list(values), np.int64)

    def like(self, number: float, dtype: DType) -> str:
        """A scalar of a dtype."""
        return self.value(number, dtype.as_numpy_dtype)

    def cast(self, name: str, dtype: DType) -> str:
        """A value as another dtype."""
        return self.op("Cast", name, to=self.element_type(dtype))

    def int64(self, at: int) -> str:
        """An input as int64, which ONNX wants for shapes and axes."""
        value = self.static(at)
        if value is not None:
            return self.value(value, np.int64)
        if self.input_dtype(at) == dtypes.int64:
            return self[at]
        return self.cast(self[at], dtypes.int64)

    # --- channels ---------------------------------------------------------------------

    def transposed(self, name: str, order: Sequence[int]) -> str:
        """A value with its axes in another order."""
        return self.op("Transpose", name, perm=list(order))

    def to_channels_first(self, name: str, rank: int) -> str:
        """A value with channels last as one with channels first."""
        known = self.scope.channels_first
        if name not in known:
            known[name] = self.transposed(name, [0, rank - 1, *range(1, rank - 1)])
        return known[name]

    def to_channels_last(self, name: str, rank: int) -> str:
        """A value with channels first as one with channels last."""
        made = self.transposed(name, [0, *range(2, rank), 1])
        self.scope.channels_first[made] = name
        return made
