"""`wrap_py_func`: Python functions of tensors and other values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorloom.client.functions.py_function import py_function
from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types import dtypes


class MatchDType(NamedTuple):
    """The dtype of an argument."""

    arg_number: int


@export("contrib.autograph.utils.wrap_py_func")
def wrap_py_func(
    f: Callable[..., Any],
    return_dtypes: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    use_dummy_return: bool = False,
) -> Any:
    """`f(*args, **kwargs)` when the graph runs, over the values of tensors.

    Args:
      f: gets a tensor with `.numpy()` for each tensor, and other arguments as they are.
      return_dtypes: None, a dtype or `MatchDType`, or a tuple of them.
      args, kwargs: tensors and other values.
      use_dummy_return: gives the int32 1 in place of what `f` returns.

    Raises:
      ValueError: there are dtypes for the dummy, or the dtype of what is no tensor.
    """
    if return_dtypes and use_dummy_return:
        raise ValueError("if use_dummy_return is True, return_dtypes must be empty")
    named = dict(kwargs or {})
    places = [i for i, a in enumerate(args) if is_tensor(a)]
    keys = [key for key, value in named.items() if is_tensor(value)]

    def call(*values: Any) -> Any:
        given, given_named = list(args), dict(named)
        for place, value in zip(places, values, strict=False):
            given[place] = value
        given_named.update(zip(keys, values[len(places) :], strict=True))
        result = f(*given, **given_named)
        return 1 if use_dummy_return else result

    tensors = [*(args[i] for i in places), *(named[key] for key in keys)]
    if use_dummy_return:
        kinds: Any = dtypes.int32
    elif isinstance(return_dtypes, (list, tuple)) and not _is_match(return_dtypes):
        kinds = [_dtype(kind, args) for kind in return_dtypes]
    else:
        kinds = _dtype(return_dtypes, args) if return_dtypes else []
    return py_function(call, tensors, kinds)


def _is_match(kind: Any) -> bool:
    return isinstance(kind, MatchDType)


def _dtype(kind: Any, args: Sequence[Any]) -> Any:
    if not isinstance(kind, MatchDType):
        return kind
    argument = args[kind.arg_number]
    if not is_tensor(argument):
        raise ValueError(
            f"argument {kind.arg_number} was used with MatchDType and must be a "
            f"tf.Tensor, but was {type(argument)} instead"
        )
    return argument.dtype
