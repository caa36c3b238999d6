"""What the emitter knows of a run-time value, and the scopes that own them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.worker.compile.emitter import Emit
    from tensorloom.worker.compile.loop_buffers import Made


@dataclass(slots=True, eq=False)
class Root:
    """The memory behind values that may share it."""

    # True when something outside the step may hold or change the memory: a feed, a
    # constant, a variable, a queue. A fetch of it is a copy.
    shared: bool = False


@dataclass(slots=True, eq=False)
class Value:
    """One tensor of the piece: the names it has in the generated source."""

    dtype: DType
    shape: TensorShape
    owner: Scope
    root: Root
    host_name: str | None = None  # as NumPy, if it was produced or converted so
    tensor_name: str | None = None  # as a torch tensor
    # The tensor is known to be a NumPy scalar: inline arithmetic gives those.
    is_scalar: bool = False
    # A loop variable: assigned anew in each iteration, so never deleted or overwritten.
    pinned: bool = False
    # A CPU's tensor that was computed of host memory alone: host kernels take it back.
    is_returnable: bool = False
    # An array in host memory that the piece made, and nobody has a view of.
    is_own: bool = False
    # Of such an array in the body of a loop: the call that makes its memory.
    made: Made | None = None
    is_ref: bool = False  # a variable's holder, read where a value is wanted
    constant: Any = None  # the array of a Const, bound when it is first used
    # What the handle stands for: (dtype, static shape) of a variable.
    handle: tuple[DType, TensorShape] | None = None
    # Of the value of a reference that is read where it is used: the variable's facts.
    read_of: tuple[DType, TensorShape] | None = None
    # The name of the variable that a tensor was read from, where it is a global one.
    variable: str | None = None
    # Of unknown sizes, what they probably are (see `worker/run/likely_shapes.py`).
    likely: TensorShape | None = None

    def owned_by(self, owner: Scope) -> Value:
        """The same names, as a value of another block (conversions go there)."""
        return replace(self, owner=owner, pinned=True)

    @property
    def likely_shape(self) -> TensorShape:
        """The shape by which memory is chosen."""
        return self.shape if self.likely is None else self.likely

    @property
    def is_host(self) -> bool:
        """True when it exists as a NumPy value (or as a constant)."""
        return self.host_name is not None or self.constant is not None


@dataclass(slots=True, eq=False)
class Line:
    """A line of generated source with the node that it computes."""

    text: str
    node: Node | None
    depth: int
    prefix: str  # of the node's name: the calls that it is in


Key = tuple[str, int]  # (node name, output index)


@dataclass(slots=True, eq=False)
class Scope:
    """A block of generated source: a segment of the piece, or a body inside it."""

    parent: Scope | None = None
    # Prefix of the names of nodes in called functions, for errors and kernels.
    prefix: str = ""
    lines: list[Line] = field(default_factory=list)
    values: dict[Key, Value] = field(default_factory=dict)
    # By node: the values that nobody needs after it.
    ends: Mapping[str, list[Key]] = field(default_factory=dict)
    # Names that the segment takes from and gives to other segments.
    imports: set[str] = field(default_factory=set)
    exports: set[str] = field(default_factory=set)
    drops_values: bool = True  # False where other segments may need them
    functions: tuple[str, ...] = ()  # the calls that led here, against recursion
    # By a node's name: what emits it in place of its kernel.
    special: Mapping[str, Emit] = field(default_factory=dict)
    # In the body of a loop: what makes an array in each iteration.
    made: list[Made] | None = None
    # In the body of a loop: what only its first iteration computes.
    once: Scope | None = None
    has_unsent: bool = False  # whether tensors for other tasks wait to be sent
    has_held: bool = False  # and whether some may do so until this part waits itself

    @property
    def segment(self) -> Scope:
        """The outermost scope around this one."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def dying(self, node: str) -> list[Value]:
        """The values that nobody needs after a node; asked when it was emitted."""
        found = (self.values.get(key) for key in self.ends.get(node, ()))
        return [value for value in found if value is not None]

    def write(self, text: str, node: Node | None, depth: int = 0) -> None:
        """Adds a line."""
        self.lines.append(Line(text, node, depth, self.prefix))

    def splice(self, body: Scope, depth: int = 1) -> None:
        """Adds the lines of an inner block, indented."""
        for line in body.lines:
            line.depth += depth
        self.lines.extend(body.lines)
