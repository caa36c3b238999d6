"""`tf.xla.experimental.jit_scope`: operations that are marked to be compiled.

The attrs are TensorFlow's, and go into GraphDefs. `master/optimize/clusters/` makes
clusters of what they mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.runtime.scopes import get_collection_ref

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation

# The collection in which a graph keeps count of its scopes, as in TensorFlow.
_SCOPES: Final = ("__xla_scope",)
_MARKS: Final = ("_XlaScope", "_XlaSeparateCompiledGradients")
_UNMARKED: Final = nullcontext()


class _Scopes:
    """How many scopes there were, and how deep we are in them."""

    def __init__(self) -> None:
        self.count = 0
        self.depth = 0


@export("xla.experimental.jit_scope", "contrib.compiler.jit.experimental_jit_scope")
@contextmanager
def jit_scope(
    compile_ops: bool | Callable[[Any], bool] = True,
    separate_compiled_gradients: bool = False,
) -> Iterator[None]:
    """Marks the operations made inside for compilation together.

    Args:
      compile_ops: whether to mark them, or a function of a NodeDef that tells it.
      separate_compiled_gradients: whether each gradient of them is a scope of its own.
    """
    attrs: dict[str, Any] = {
        "_XlaCompile": compile_ops,
        "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients),
    }
    found = get_collection_ref(_SCOPES)
    if not found:
        found.append(_Scopes())
    scopes: _Scopes = found[0]
    if scopes.depth == 0:
        attrs["_XlaScope"] = f"jit_scope_{scopes.count}".encode()
        scopes.count += 1
    scopes.depth += 1
    try:
        with get_default_graph()._attr_scope(attrs):
            yield
    finally:
        scopes.depth -= 1


def gradients_scope(op: Operation, name_scope: str) -> AbstractContextManager[None]:
    """Where the gradient of an operation is made: marked like the operation.

    Args:
      op: whose gradient it is.
      name_scope: of all gradients; it names their scope if they have one of their own.
    """
    attrs = op._attrs
    if not attrs.get("_XlaCompile") or not all(name in attrs for name in _MARKS):
        return _UNMARKED
    scope: bytes = attrs["_XlaScope"]
    if attrs["_XlaSeparateCompiledGradients"]:
        scope += f"_grad_{name_scope.replace('/', '_')}".encode()
    return get_default_graph()._attr_scope({"_XlaCompile": True, "_XlaScope": scope})
