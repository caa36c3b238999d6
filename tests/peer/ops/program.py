"""Small GraphDefs to be run on both sides, built node by node without any check.

Nothing is validated here, unlike in the library's own op builders: an invalid node has
to reach both importers.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import attr_value, dtypes, tensor_proto
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.protos import graph_pb2
from tests.peer import runner

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import AttrDef, OpDef
    from tensorloom.framework.types.dtypes import DType

# What TensorFlow 1.15 writes: ops that were deprecated before are errors.
PRODUCER = 134


@dataclass(frozen=True)
class Ref:
    """An output of a node."""

    name: str  # "node:0"
    dtype: DType

    @property
    def edge(self) -> str:
        """How a NodeDef names it."""
        return self.name.removesuffix(":0")


@dataclass
class Leaf:
    """A value given to the program: a placeholder that is fed, or a constant."""

    name: str
    value: np.ndarray[Any, Any]
    dtype: DType
    const: bool  # a Const node unless the variant hides all values
    always: bool  # a Const node in every variant


@dataclass
class Node:
    """A node in the form in which it is written down."""

    op: str
    name: str
    inputs: list[str]
    attrs: dict[str, Any]
    outputs: list[Ref]
    device: str = ""

    def __getitem__(self, index: int) -> Ref:
        return self.outputs[index]

    def __len__(self) -> int:
        return len(self.outputs)


@dataclass
class Step:
    """One call of the session: what is fetched, and which nodes run beside."""

    fetches: list[str]
    targets: list[str]
    feeds: dict[str, np.ndarray[Any, Any]] | None = None  # other values for leaves


@dataclass
class Program:
    """Leaves, nodes and the steps to run."""

    producer: int = PRODUCER
    leaves: list[Leaf] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    differentiate: bool = True
    functions: list[Any] = field(default_factory=list)  # FunctionDefs
    arguments: list[Ref] = field(default_factory=list)  # of a function's body

    def feed(
        self,
        value: Any,
        dtype: DType | str | None = None,
        const: bool = False,
        always: bool = False,
        name: str = "",
    ) -> Ref:
        """A leaf. `const`: known when the graph is built, in the variants that know
        shapes; `always`: in every variant."""
        found = dtype_of(value) if dtype is None else dtypes.as_dtype(dtype)
        name = name or f"x{len(self.leaves)}"
        array = as_array(value, found)
        self.leaves.append(Leaf(name, array, found, const or always, always))
        return Ref(f"{name}:0", found)

    def const(self, value: Any, dtype: DType | str | None = None) -> Ref:
        """A constant in every variant."""
        return self.feed(value, dtype, always=True)

    def op(
        self,
        op: str,
        *inputs: Any,
        name: str = "",
        control: Sequence[Node | Ref] = (),
        device: str = "",
        **attrs: Any,
    ) -> Node:
        """A node. Inputs are Refs, Nodes (their first output), lists of these for
        list arguments, or values, which become leaves."""
        op_def = find(op)
        given = [self._refs(one) for one in inputs]
        name = name or f"n{len(self.nodes)}"
        complete = infer_attrs(op_def, given, attrs)
        edges = [ref.edge for refs in given for ref in refs]
        edges += [f"^{node_name(one)}" for one in control]
        node = Node(op, name, edges, complete, [], device)
        node.outputs = output_refs(op_def, name, complete)
        self.nodes.append(node)
        return node

    def run(
        self,
        *what: Node | Ref,
        feeds: dict[str, Any] | None = None,
    ) -> None:
        """A step that fetches Refs and all outputs of Nodes; a Node without outputs is
        a target."""
        fetches: list[str] = []
        targets: list[str] = []
        for one in what:
            if isinstance(one, Ref):
                fetches.append(one.name)
            elif one.outputs:
                fetches += [ref.name for ref in one.outputs]
            else:
                targets.append(one.name)
        self.steps.append(Step(fetches, targets, feeds))

    def function(
        self,
        types: Sequence[Any],
        body: Callable[..., Sequence[Node | Ref]],
        name: str = "fn",
    ) -> NameAttrList:
        """A function of arguments of these dtypes, for attrs of type func.

        body: gets a Program to make nodes in (`const` makes constants) and a Ref for
        each argument; returns the outputs.
        """
        inner = Program()
        kinds = [dtypes.as_dtype(one) for one in types]
        inner.arguments = [Ref(f"a{i}:0", kind) for i, kind in enumerate(kinds)]
        outputs = [
            one for ref in body(inner, *inner.arguments) for one in self._refs(ref)
        ]
        written = function_def(inner, outputs)
        # A name for each body: the functions of all cases meet in one graph.
        content = written.SerializeToString(deterministic=True)
        written.signature.name = f"{name}_{zlib.crc32(content):08x}"
        self.functions += [*inner.functions, written]
        return NameAttrList(written.signature.name, {})

    def _refs(self, one: Any) -> list[Ref]:
        if isinstance(one, Ref):
            return [one]
        if isinstance(one, Node):
            return [one[0]]
        if isinstance(one, list):
            return [ref for item in one for ref in self._refs(item)]
        return [self.feed(one)]

    # --- writing it down ------------------------------------------------------

    def graph_def(self, known: str) -> bytes:
        """The GraphDef; `known` is "all", "part" or "none" of the leaves' shapes."""
        graph = graph_pb2.GraphDef()
        graph.versions.producer = self.producer
        for index, leaf in enumerate(self.leaves):
            write_leaf(graph.node.add(), leaf, known, index)
        for node in self.nodes:
            written = graph.node.add(name=node.name, op=node.op, device=node.device)
            written.input.extend(node.inputs)
            write_attrs(written, node)
        graph.library.function.extend(self.functions)
        return bytes(graph.SerializeToString(deterministic=True))

    def feeds(self, known: str, step: Step | None = None) -> dict[str, Any]:
        """The plain values of the placeholders of that variant."""
        other = (step and step.feeds) or {}
        return {
            f"{leaf.name}:0": plain(
                as_array(other.get(leaf.name, leaf.value), leaf.dtype), leaf.dtype
            )
            for leaf in self.leaves
            if not is_const(leaf, known)
        }

    def outputs(self) -> list[Ref]:
        """All outputs of all nodes."""
        return [ref for node in self.nodes for ref in node.outputs]

    def replaced(self, index: int, value: np.ndarray[Any, Any]) -> Program:
        """A copy with another value of one leaf."""
        changed = copy.copy(self)
        changed.leaves = list(self.leaves)
        changed.leaves[index] = copy.copy(self.leaves[index])
        changed.leaves[index].value = value
        return changed


def node_name(one: Node | Ref) -> str:
    """The name of the node of an edge."""
    return one.name if isinstance(one, Node) else one.name.rpartition(":")[0]


def is_const(leaf: Leaf, known: str) -> bool:
    """Whether the leaf is a Const node in that variant."""
    return leaf.always or (leaf.const and known != "none")


def find(op: str) -> OpDef:
    """The op's definition here.

    Raises:
      LookupError: it is not defined.
    """
    found = op_registry.find(op)
    if found is None:
        raise LookupError(f"op {op} is not defined here")
    return found


def dtype_of(value: Any) -> DType:
    """The DType of an array or Python value (numbers: float32 and int32)."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype == object or value.dtype.kind in "SU":
            return dtypes.string
        return dtypes.as_dtype(value.dtype)
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return dtypes.string
    if array.dtype == np.int64:
        return dtypes.int32
    if array.dtype == np.float64:
        return dtypes.float32
    return dtypes.as_dtype(array.dtype)


def as_array(value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """The array of a leaf; quantized ones are arrays of their base integers."""
    if dtype == dtypes.string:
        return np.array(value, dtype=object)
    if dtype.is_quantized:
        return np.asarray(value, dtype=np.dtype(dtype.as_numpy_dtype)[0])
    return np.asarray(value, dtype=dtype.np_dtype)


def plain(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    """As `batch_runner.array_of` reads it."""
    if dtype.is_quantized:
        return ("array", dtype.name, array.shape, array.tobytes())
    return runner.plain_array(array)


# --- attrs ----------------------------------------------------------------------


def infer_attrs(
    op_def: OpDef, given: list[list[Ref]], attrs: dict[str, Any]
) -> dict[str, Any]:
    """`attrs` as values of the attrs' types, with those that the inputs tell added."""
    inferred: dict[str, Any] = {}
    for arg, refs in zip(op_def.inputs, given, strict=False):
        if arg.type_list_attr:
            inferred.setdefault(arg.type_list_attr, [ref.dtype for ref in refs])
        if arg.number_attr:
            inferred.setdefault(arg.number_attr, len(refs))
        if arg.type_attr and refs:
            inferred.setdefault(arg.type_attr, refs[0].dtype.base_dtype)
    inferred |= attrs
    complete = {
        name: coerced(op_def.attrs.get(name), value) for name, value in inferred.items()
    }
    # Not what is the default anyway: 1.15 may not know the attr.
    defaults = op_def.fill_defaults({})
    return {
        name: value
        for name, value in complete.items()
        if name not in defaults or not same(defaults[name], value)
    }


def same(a: Any, b: Any) -> bool:
    """Equality of two values of attrs."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    return type(a) is type(b) and bool(a == b)


def coerced(attr: AttrDef | None, value: Any) -> Any:
    """A Python value in the form that its attr's type asks for."""
    if attr is None:
        return value
    if attr.type.startswith("list("):
        return [coerce_one(attr.type[5:-1], item) for item in value]
    return coerce_one(attr.type, value)


def coerce_one(kind: str, value: Any) -> Any:
    """As `coerced`, of one element."""
    if kind == "type":
        return dtypes.as_dtype(value)
    if kind == "shape" and not isinstance(value, TensorShape):
        return TensorShape.of(None if value is None else tuple(value))
    if kind == "string" and isinstance(value, str):
        return value.encode()
    if kind == "float":
        return float(value)
    if kind == "int":
        return int(value)
    if kind == "func" and isinstance(value, str):
        return NameAttrList(value, {})
    return value


def output_refs(op_def: OpDef, name: str, attrs: dict[str, Any]) -> list[Ref]:
    """The outputs of a node with these attrs."""
    types = op_def.output_types(op_def.fill_defaults(attrs))
    return [Ref(f"{name}:{i}", dtype) for i, dtype in enumerate(types)]


def write_attrs(written: Any, node: Node) -> None:
    """Fills in the attrs of a NodeDef."""
    for key, value in node.attrs.items():
        attr_value.encode_into(written.attr[key], value)
        if isinstance(value, list) and not value:
            written.attr[key].list.SetInParent()


def write_leaf(written: Any, leaf: Leaf, known: str, index: int) -> None:
    """A leaf as a Const or Placeholder node."""
    written.name = leaf.name
    attr_value.encode_into(written.attr["dtype"], leaf.dtype)
    if is_const(leaf, known):
        written.op = "Const"
        value = np.ascontiguousarray(leaf.value).reshape(leaf.value.shape)
        if leaf.dtype.is_quantized:
            value = value.view(leaf.dtype.as_numpy_dtype).reshape(value.shape)
        tensor_proto.encode_tensor(value, leaf.dtype, written.attr["value"].tensor)
        return
    written.op = "Placeholder"
    shape = TensorShape.of(placeholder_shape(leaf.value.shape, known, index))
    attr_value.encode_into(written.attr["shape"], shape)


def placeholder_shape(
    shape: tuple[int, ...], known: str, index: int
) -> tuple[int | None, ...] | None:
    """What a variant tells of a shape: all, every other size, or nothing."""
    if known == "all":
        return shape
    if known == "none":
        return None
    return tuple(size if (i + index) % 2 else None for i, size in enumerate(shape))


# --- functions ------------------------------------------------------------------


def function_def(inner: Program, outputs: list[Ref]) -> Any:
    """The FunctionDef of a body, without a name."""
    from tensorloom.protos import function_pb2

    written = function_pb2.FunctionDef()
    for ref in inner.arguments:
        arg = written.signature.input_arg.add(name=node_name(ref))
        arg.type = ref.dtype.as_datatype_enum
    for index, leaf in enumerate(inner.leaves):
        write_leaf(written.node_def.add(), replace(leaf, always=True), "all", index)
    for node in inner.nodes:
        made = written.node_def.add(name=node.name, op=node.op, device=node.device)
        made.input.extend(inner_edge(inner, edge) for edge in node.inputs)
        write_attrs(made, node)
    for index, ref in enumerate(outputs):
        arg = written.signature.output_arg.add(name=f"r{index}")
        arg.type = ref.dtype.as_datatype_enum
        written.ret[f"r{index}"] = inner_edge(inner, ref.edge)
    return written


def inner_edge(inner: Program, edge: str) -> str:
    """An edge as a FunctionDef names it: "argument", "node:output_name:index"."""
    name, _, number = edge.partition(":")
    if edge.startswith("^") or any(node_name(ref) == name for ref in inner.arguments):
        return name
    node = next((node for node in inner.nodes if node.name == name), None)
    if node is None:  # a constant
        return f"{name}:output:0"
    position = int(number or 0)
    op_def = find(node.op)
    attrs = op_def.fill_defaults(node.attrs)
    for arg in op_def.outputs:
        count = len(op_registry.arg_types(arg, attrs))
        if position < count:
            return f"{name}:{arg.name}:{position}"
        position -= count
    raise IndexError(f"{edge} of {node.op}")
