"""`tf.get_session_handle`: tensors that stay in the session between steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, Tensor, colocate_with, device
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import placeholder as placeholder_ops

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession
    from tensorloom.client.session.fetch_mapper import FetchPlan

# So many handles that nobody holds are dropped together.
_DEAD_HANDLES = 10


class TensorHandle:
    """What a fetch of `tf.get_session_handle` gives: the tensor stays in the session.

    When nobody holds it any more, the session drops the tensor.
    """

    def __init__(
        self, handle: bytes, dtype: dtypes.DType, session: BaseSession
    ) -> None:
        self._handle = handle.decode()
        self._dtype = dtype
        self._session = session
        self._is_owner = True

    def __del__(self) -> None:
        if self._is_owner:
            self._session.dead_tensor_handles.append(self._handle)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        """The handle as a string, to be fed to what `tf.get_session_tensor` makes."""
        return self._handle

    @property
    def dtype(self) -> dtypes.DType:
        """The tensor's dtype."""
        return self._dtype

    def eval(self) -> Any:
        """The tensor's value.

        Raises:
          TypeError: the tensor may have been deleted.
        """
        self._check_owner()
        graph = self._session.graph
        holder, tensor = _element(graph, "reader", self._handle, self._dtype)
        return self._session.run(tensor, feed_dict={holder: self._handle})

    def delete(self) -> None:
        """Deletes the tensor.

        Raises:
          TypeError: it may have been deleted already.
        """
        self._check_owner()
        self._is_owner = False
        _delete(self._session, self._handle)

    def get_raw_handle(self) -> str:
        """The handle as a string; the tensor stays until it is deleted by it."""
        self._is_owner = False
        return self._handle

    def _check_owner(self) -> None:
        if not self._is_owner:
            raise TypeError(
                f"Persistent tensor {self._handle} may have already been deleted."
            )


def _device_of(handle: str) -> str:
    return handle.rpartition(";")[2]


def _element(graph: Graph, kind: str, handle: str, dtype: Any) -> tuple[Any, Any]:
    """(placeholder, reader or deleter) of a graph, made once for a device and dtype."""
    made = graph.__dict__.setdefault("_session_tensor_ops", {})
    key = kind, _device_of(handle), dtype
    if key not in made:
        with graph.as_default():
            made[key] = (
                get_session_tensor(handle, dtype)
                if kind == "reader"
                else delete_session_tensor(handle)
            )
    found: tuple[Any, Any] = made[key]
    return found


def _delete(session: BaseSession, handle: str) -> None:
    holder, deleter = _element(session.graph, "deleter", handle, None)
    session.run(deleter, feed_dict={holder: handle})


def bind_handles(plan: FetchPlan, session: BaseSession) -> None:
    """Lets a plan give TensorHandles for the handles that it fetches."""
    places = {
        i: tensor.op.get_attr("T")
        for i, tensor in enumerate(plan.tensors)
        if tensor.op.type == "GetSessionHandle"
    }
    if not places:
        return
    pack = plan.pack

    def pack_handles(values: Sequence[Any]) -> Any:
        _collect_dead(session)
        bound = [
            TensorHandle(_bytes(value), places[i], session) if i in places else value
            for i, value in enumerate(values)
        ]
        return pack(bound)

    plan.pack = pack_handles


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else bytes(value.item())


def _collect_dead(session: BaseSession) -> None:
    dead = session.dead_tensor_handles
    if len(dead) >= _DEAD_HANDLES:
        session.dead_tensor_handles = []
        for handle in dead:
            _delete(session, handle)


@export("get_session_handle")
def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """A tensor whose value, when fetched, is a handle: the data stay in the session.

    Raises:
      TypeError: `data` is not a tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        handle: Tensor = apply_op("GetSessionHandle", value=data, name=name)
        return handle


@export("get_session_tensor")
def get_session_tensor(
    handle: Any, dtype: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(placeholder, tensor): feed a handle of this dtype, and get what it stands for.

    Args:
      handle: a handle as a string; says on which device the tensor is.
    """
    with device(_device_of(str(handle))):
        holder = placeholder_ops.placeholder(dtypes.string)
        tensor = apply_op("GetSessionTensor", handle=holder, dtype=dtype, name=name)
    return holder, tensor


@export("delete_session_tensor")
def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Any]:
    """(placeholder, operation): feed a handle, and its tensor is deleted."""
    with device(_device_of(str(handle))):
        holder = placeholder_ops.placeholder(dtypes.string)
        deleter = apply_op("DeleteSessionTensor", handle=holder, name=name)
    return holder, deleter
