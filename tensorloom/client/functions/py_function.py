"""`tf.py_function`: a Python function over tensors that have values.

The function runs in a graph of its own (a *tape*), in which its arguments are
constants: what it does with TensorFlow's functions adds operations there, and
`.numpy()` runs them. The gradient walks the tape of the call back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.client.gradients.gradients import build_gradients
from tensorloom.client.session.session import Session
from tensorloom.framework.export import export
from tensorloom.framework.functions import py_functions
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow import script as script_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation


class ValueTensor(Tensor):
    """A tensor of a tape: it has a value, which Python may look at."""

    __slots__ = ()

    def numpy(self) -> Any:
        """The value as NumPy."""
        tape = self._op._graph
        assert isinstance(tape, Tape)
        return tape.value_of(self)

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __index__(self) -> int:
        return int(self.numpy())

    def __len__(self) -> int:
        return len(self.numpy())

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.numpy(), dtype)

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, numpy={self.numpy()!r}>"


class Tape(Graph):
    """The graph of one call."""

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._values: dict[Tensor, Any] = {}
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []

    def add_operation(self, *args: Any, **kwargs: Any) -> Operation:
        """`Graph.add_operation`, with outputs that have values."""
        op = super().add_operation(*args, **kwargs)
        for tensor in op._outputs:
            tensor.__class__ = ValueTensor
        return op

    def value_of(self, tensor: Tensor) -> Any:
        """What a tensor of the tape evaluates to; it is computed once."""
        if tensor not in self._values:
            if self._session is None:
                self._session = Session(graph=self)
            self._values[tensor] = self._session.run(tensor)
        return self._values[tensor]

    def close(self) -> None:
        """Frees the session."""
        if self._session is not None:
            self._session.close()


class _EagerFunction:
    """What the op calls: the user's function over the tensors of a tape."""

    def __init__(self, func: Callable[..., Any], types: Sequence[dtypes.DType]) -> None:
        self._func = func
        self._types = types
        self._lock = threading.Lock()
        self._tapes: list[Tape] = []  # of calls whose gradient may be asked for

    def __call__(self, *arguments: Any) -> list[Any]:
        tape = Tape()
        with tape.as_default():
            tape.inputs = [constant(a) for a in arguments]
            for tensor, value in zip(tape.inputs, arguments, strict=True):
                tape._values[tensor] = value
            result = self._func(*tape.inputs)
            if result is None:
                result = []
            elif not isinstance(result, (list, tuple)):
                result = [result]
            # As TensorFlow: what is returned beyond the declared dtypes is not used.
            tape.outputs = [
                convert_to_tensor(value, dtype=dtype)
                for value, dtype in zip(result, self._types, strict=False)
            ]
            values = [np.asarray(tape.value_of(t)) for t in tape.outputs]
        with self._lock:
            self._tapes = [tape]
        return values

    def gradient(self, *grads: Any) -> list[Any]:
        """The gradients of the last call's arguments, zeros where there is none."""
        with self._lock:
            tape = self._tapes[-1]
        with tape.as_default():
            given = [
                (y, constant(g))
                for y, g in zip(tape.outputs, grads, strict=True)
                if y.dtype.is_floating or y.dtype.is_complex
            ]
            found = build_gradients(
                [y for y, _ in given], tape.inputs, [g for _, g in given]
            )
            return [
                np.zeros_like(tape.value_of(x))
                if g is None
                else np.asarray(tape.value_of(convert_to_tensor(g)))
                for x, g in zip(tape.inputs, found, strict=True)
            ]


@export("py_function")
def py_function(
    func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None
) -> Any:
    """An op that calls a Python function over tensors with values; differentiable.

    Args:
      func: gets a tensor for each input, with `.numpy()`; may use TensorFlow's
        functions; returns tensors or what can be made tensors.
      inp: tensors.
      Tout: the dtype, or the list of dtypes, that the function returns; an empty list
        for none.
      name: of the op.

    Returns:
      A tensor, or a list of tensors when `Tout` is a list; of unknown shape.

    Raises:
      ValueError: `func` is not callable.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in (Tout if is_list else [Tout])]
    called = _EagerFunction(func, types)
    token = py_functions.insert(called)
    script_ops.keep(get_default_graph(), called)
    result = apply_op(
        "EagerPyFunc", input=list(inp), token=token, Tout=types, name=name
    )
    return result if is_list else result[0]


@RegisterGradient("EagerPyFunc")
def _eager_py_func_grad(op: Operation, *grads: Any) -> list[Any]:
    called = py_functions.find(op._attrs["token"].decode())
    assert isinstance(called, _EagerFunction)
    gradient = called.gradient
    token = py_functions.insert_kept(gradient)
    script_ops.keep(op.graph, gradient)
    types = [t.dtype.base_dtype for t in op.inputs]
    with op.graph.control_dependencies([op]):
        found = apply_op(
            "EagerPyFunc",
            input=list(grads),
            token=token,
            Tout=types,
            name="EagerPyFunc",
        )
    for tensor, x in zip(found, op.inputs, strict=True):
        tensor.set_shape(x.shape)
    return [g if g.dtype.is_floating or g.dtype.is_complex else None for g in found]
