"""Lists of tensors as Python lists, for who alone has one and changes it at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.torch.lists.tensor_list import UNSET, TensorList, is_compatible

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


class _Careful:
    """A list whose changes need to be looked at; in place of its elements.

    It counts as empty, so that nobody takes an element but by `careful_pop`.
    """

    __slots__ = ("handle",)

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __len__(self) -> int:
        return 0

    def append(self, element: Any) -> None:
        self.handle = TensorList.push(self.handle, element)


def as_python_list(
    handle: Any, dtype: DType, pushed: TensorShape | None
) -> list[Any] | _Careful:
    """The elements of a tensor list as a Python list, to push to and pop from.

    Args:
      handle: the list; it stays as it is.
      dtype: of what is pushed or taken.
      pushed: what is known of the shape of what is pushed; None: nothing is.

    Returns:
      What has `append`, and `pop` where it is not empty; where it is,
      `careful_pop` knows what to do.
    """
    if not isinstance(handle, TensorList) or handle.element_dtype != dtype:
        return _Careful(handle)
    items = handle.elements()
    if not _takes(handle, pushed) or any(x is UNSET for x in items):
        return _Careful(handle)
    return items


def _takes(handle: TensorList, pushed: TensorShape | None) -> bool:
    """Whether a list has place for whatever has that shape."""
    if pushed is None:
        return True
    if handle.max_elements >= 0:
        return False
    if handle.element_shape is None:
        return True
    dims = pushed.dims_tuple
    sizes = tuple([dim for dim in dims or () if dim is not None])
    return dims == sizes and is_compatible(sizes, handle.element_shape)


def as_list(handle: Any, items: list[Any] | _Careful) -> Any:
    """The list that has such elements now; `handle` is what it was before."""
    if isinstance(items, _Careful):
        return items.handle
    return handle.with_elements(items)


def careful_pop(compute: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    """What takes the last element where `pop` cannot.

    Args:
      compute: the kernel: (list, shape of its elements) to (list, element).
    """

    def pop(items: list[Any] | _Careful, element_shape: Any) -> Any:
        if not isinstance(items, _Careful):
            raise invalid_argument("Trying to pop from an empty list.")
        items.handle, element = compute(items.handle, element_shape)
        return element

    return pop
