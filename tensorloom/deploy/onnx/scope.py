"""An ONNX graph in the making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tensorloom.deploy.onnx.registry import BUILDERS
from tensorloom.deploy.program import Refusal, Unexportable, static_value
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

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

    def __init__(self, graph: GraphIR, tables: GraphIR) -> None:
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


class Scope:
    """A graph, or the body of a loop or branch."""

    def __init__(
        self, model: Model, nodes: Mapping[str, Node], values: dict[Edge, str]
    ) -> None:
        self.model = model
        self.nodes = nodes
        #: The ONNX value of each tensor.
        self.values = values
        self.made: list[Any] = []
        #: By the name of a value with channels last, the one with channels first.
        self.channels_first: dict[str, str] = {}
        #: Of a body: dtype and shape of its arguments, by name.
        self.arguments: dict[str, tuple[DType, TensorShape]] = {}
        #: Tensors whose values a caller knows.
        self.known: dict[Edge, Any] = {}
        #: Contents of TensorArrays, by the tensors of their flow.
        self.arrays: dict[Edge, Any] = {}

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


class Site:
    """A node that is written: what its builder sees."""

    def __init__(self, scope: Scope, node: Node) -> None:
        self.scope = scope
        self.node = node
        self.model = scope.model

    def __getitem__(self, at: int) -> str:
        """The ONNX name of an input."""
        return self.scope.values[self.node.inputs[at]]

    def __len__(self) -> int:
        return len(self.node.inputs)

    @property
    def inputs(self) -> list[str]:
        """The ONNX names of all inputs."""
        return [self[at] for at in range(len(self))]

    def attr(self, name: str) -> Any:
        """An attr, strings as texts."""
        value = self.node.attrs[name]
        return value.decode() if isinstance(value, bytes) else value

    def static(self, at: int) -> Any:
        """The value of an input, if it is a constant; else None."""
        edge = self.node.inputs[at]
        while edge not in self.scope.known:
            source = self.scope.nodes.get(edge[0])
            if source is None or source.op != "Identity":
                return static_value(source)
            edge = source.inputs[0]
        return self.scope.known[edge]

    def constant(self, at: int, what: str) -> Any:
        """The value of an input. Raises Unexportable if it is no constant."""
        value = self.static(at)
        if value is None:
            raise Unexportable(f"its {what} is no constant")
        return value

    def shape(self, at: int) -> TensorShape:
        """What is known of an input's shape."""
        value = self.static(at)
        if value is not None:
            return TensorShape(np.shape(value))
        name, output = self.node.inputs[at]
        if name in self.scope.arguments:
            return self.scope.arguments[name][1]
        source = self.scope.nodes.get(name)
        if source is None or source.output_shapes is None:
            return UNKNOWN
        return source.output_shapes[output]

    def sizes(self, at: int) -> list[int]:
        """An input's shape. Raises Unexportable if it is not all known."""
        shape = self.shape(at)
        if not shape.is_fully_defined():
            raise Unexportable(f"the shape of input {at} is not known")
        return [int(size) for size in shape.as_list() if size is not None]

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

    def input_dtype(self, at: int) -> DType:
        """The dtype of an input."""
        name, output = self.node.inputs[at]
        if name in self.scope.arguments:
            return self.scope.arguments[name][0]
        return self.scope.nodes[name].output_types[output]

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
