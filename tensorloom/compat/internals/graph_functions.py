"""Functions of `tensorflow.python.framework.ops` that are no part of the public API.

Libraries and tests for TensorFlow 1 call them: they make a NodeDef, ask for the stacks
of default graphs and sessions, and open scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.devices.device_spec import DeviceSpecV2
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry import op_statistics
from tensorloom.framework.runtime.default_stack import stacks
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.profiler import float_operations  # noqa: F401 - registers them
from tensorloom.protos.node_def_pb2 import NodeDef

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_statistics import OpStats


class DefaultStack:
    """What libraries ask of the graphs or sessions made default in this thread."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    @property
    def stack(self) -> list[Any]:
        """The open blocks, outermost first."""
        found: list[Any] = getattr(stacks, self._kind)
        return found

    def get_default(self) -> Any:
        """The innermost one; None if there is none."""
        return self.stack[-1] if self.stack else None

    def is_cleared(self) -> bool:
        """Whether no block is open."""
        return not self.stack

    def reset(self) -> None:
        """Forgets the open blocks."""
        self.stack.clear()


_default_graph_stack: Final = DefaultStack("graphs")
_default_session_stack: Final = DefaultStack("sessions")


def has_default_graph() -> bool:
    """Whether this thread is in a `with graph.as_default()` block."""
    return bool(stacks.graphs)


class RegisterShape:
    """A decorator without effect, as in TensorFlow 1.15: ops know their shapes."""

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself. Raises TypeError for what cannot be called."""
        if not callable(f):
            raise TypeError("unregistered shape functions must be callable")
        return f


def set_call_cpp_shape_fn(call_cpp_shape_fn: Callable[..., Any]) -> None:
    """Nothing: the shape functions of ops need no registration."""


def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> dict[str, Any]:
    """The static shapes of an operation's outputs, under the key `shapes`."""
    return {"shapes": [output.shape for output in op.outputs]}


def node_def(
    op_type: str, name: str, device: Any = None, attrs: dict[str, Any] | None = None
) -> NodeDef:
    """A NodeDef.

    Args:
      op_type: the op.
      name: the node's name.
      device: a device string, a `DeviceSpec` or a function of the node that gives one.
      attrs: AttrValue messages by name.
    """
    node = NodeDef(op=op_type, name=name)
    for key, value in (attrs or {}).items():
        node.attr[key].CopyFrom(value)
    if callable(device):
        device = device(node)
    if isinstance(device, DeviceSpecV2):
        device = device.to_string()
    if device is not None:
        node.device = device
    return node


class NameScopeV2:
    """A name scope that can be entered again: each time it opens a new one below."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._open: list[Any] = []

    @property
    def name(self) -> str:
        """The name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        scope = name_scope(self._name)
        entered = scope.__enter__()
        self._open.append(scope)
        return entered

    def __exit__(self, *exc_info: Any) -> None:
        self._open.pop().__exit__(*exc_info)


def convert_to_tensor_or_composite(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """A tensor or a value of several tensors (sparse, ragged, IndexedSlices).

    Raises:
      ValueError: a value of several tensors has another dtype than asked for.
    """
    if not isinstance(value, CompositeTensor):
        return convert_to_tensor(value, dtype=dtype, name=name)
    have = getattr(value, "dtype", None)
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(have):
        raise ValueError(
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for "
            f"{type(value).__name__} with dtype {have}: {value!r}"
        )
    return value


def internal_convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
    ctx: Any = None,
    accept_composite_tensors: bool = False,
    accepted_result_types: Sequence[Any] = (),
) -> Any:
    """`tf.convert_to_tensor`, under the name that libraries of 1.15 called."""
    if accept_composite_tensors and getattr(value, "_is_composite", False):
        return value
    return convert_to_tensor(
        value, dtype=dtype, name=name, preferred_dtype=preferred_dtype
    )


def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> OpStats:
    """What a node costs, by the function registered for its op; unknown without one."""
    return op_statistics.get_stats_for_node_def(graph, node, statistic_type)
