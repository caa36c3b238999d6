"""Sessions: steps over arrays, partial runs, SavedModels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.capi.graphs import check_names, check_step
from tensorloom.client.session import session_errors
from tensorloom.client.session.base_session import BaseSession
from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.run_plan import FeedPlan
from tensorloom.framework.errors import (
    CancelledError,
    InvalidArgumentError,
    OpError,
    invalid_argument,
)
from tensorloom.framework.interfaces import StepContext, StepSignature
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def checked_config(serialized: bytes) -> bytes:
    """The same bytes.

    Raises:
      InvalidArgumentError: they are no ConfigProto.
    """
    parsed_config(serialized)
    return serialized


def parsed_config(serialized: bytes) -> Any:
    """The ConfigProto that the bytes are.

    Raises:
      InvalidArgumentError: they are none.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.config_pb2 import ConfigProto

    try:
        return ConfigProto.FromString(serialized)
    except DecodeError:
        raise invalid_argument("Unparseable ConfigProto") from None


def new_session(graph: Graph, target: str | None, config: bytes | None) -> BaseSession:
    """A session of a graph at a master; no target is this process.

    Raises:
      errors.NotFoundError: nobody serves that kind of target.
    """
    proto = None if config is None else parsed_config(config)
    return BaseSession(target or "", graph, proto)


def close(session: BaseSession) -> None:
    """Cancels its steps, and frees what it holds."""
    session.close()


class Plan:
    """A step of a session: what it feeds, fetches and runs."""

    __slots__ = (
        "_converters",
        "_fed",
        "_graph",
        "_options",
        "_other_step",
        "_pack",
        "_session",
        "_signature",
        "_step",
    )

    def __init__(
        self,
        session: BaseSession,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ) -> None:
        """Prepares the step.

        Raises:
          InvalidArgumentError: a tensor is fed twice, or nothing is fetched or run.
          errors.OpError, ValueError: the graph cannot be run so.
        """
        _check_open(session)
        check_step(session.graph, feeds, [*fetches, *targets])
        if not fetches and not targets:
            raise invalid_argument(
                "Must specify at least one target to fetch or execute."
            )
        _check_feeds(feeds, fetches)
        self._session = session
        self._graph = session.graph
        self._options = session._default_options
        plan = FetchPlan(session.graph, [*fetches, *targets])
        fed = FeedPlan(session.graph, dict.fromkeys(feeds)).tensors if feeds else []
        # Steps with the same feeds in another order are one for the master.
        order = sorted(range(len(fed)), key=lambda i: fed[i].name)
        self._fed = [fed[i] for i in order]
        self._converters = [(i, _converter(fed[i])) for i in order]
        self._signature = StepSignature(
            tuple(fed[i].name for i in order),
            tuple(tensor.name for tensor in plan.tensors),
            tuple(op.name for op in plan.targets),
        )
        self._step = session._prepare(self._signature).run
        self._other_step: Callable[[Any, Any], list[Any]] | None = None
        # A tensor that is fetched twice is computed once.
        self._pack = None if len(plan.tensors) == len(fetches) else plan.pack

    def run(self, values: list[Any]) -> list[Any]:
        """Runs the step on the values of its feeds; the values of its fetches first.

        Raises:
          CancelledError: the session is closed.
          InvalidArgumentError: a value has another dtype than its tensor, or, where a
            server runs the step, another shape than the graph says.
          errors.OpError: the step failed.
        """
        session = self._session
        if session._closed:
            _check_open(session)
        if self._graph._next_id_value != session._growth.version:
            check_names(self._graph)
            session._growth.note()
        step = None if self._options is None else StepContext(self._options)
        try:
            return self._execute(values, step)
        except OpError as error:
            raise session_errors.with_operation(error, self._graph) from None

    def _execute(self, values: list[Any], step: StepContext | None) -> list[Any]:
        try:
            fed = [convert(values[i]) for i, convert in self._converters]
        except _OtherShapeError:
            if self._session._target:  # its master relies on the shapes of the graph
                raise
            results = self._run_other_shapes(values, step)
        else:
            results = self._step(fed, step)
        return results if self._pack is None else self._pack(results)

    def _run_other_shapes(
        self, values: list[Any], step: StepContext | None
    ) -> list[Any]:
        """A step on values of other shapes than the graph says, as TensorFlow's."""
        if self._other_step is None:
            signature = replace(self._signature, any_fed_shapes=True)
            self._other_step = self._session._prepare(signature).run
        fed = [
            _converter(tensor, any_shape=True)(values[i])
            for (i, _), tensor in zip(self._converters, self._fed, strict=True)
        ]
        return self._other_step(fed, step)

    def run_traced(self, values: list[Any], options: Any, metadata: Any) -> list[Any]:
        """`run` with RunOptions and RunMetadata."""
        _check_open(self._session)
        try:
            result: list[Any] = self._session._run_with_metadata(
                lambda _, step: self._execute(values, step), {}, options, metadata
            )
        except OpError as error:
            raise session_errors.with_operation(error, self._graph) from None
        return result


def _check_open(session: BaseSession) -> None:
    if session._closed or session._was_reset:
        raise CancelledError(None, None, "Session has been closed.")


def _check_feeds(feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> None:
    """Raises InvalidArgumentError if one is fed twice, or both fed and fetched."""
    fed = set(feeds)
    if len(fed) != len(feeds):
        twice = next(t for t in feeds if list(feeds).count(t) > 1)
        raise invalid_argument(f"Endpoint {twice.name} fed more than once.")
    for tensor in fetches:
        if tensor in fed:
            raise invalid_argument(f"{tensor.name} is both fed and fetched.")


class _OtherShapeError(InvalidArgumentError):
    """A fed value has another shape than the graph says."""


def _converter(tensor: Tensor, any_shape: bool = False) -> Callable[[Any], Any]:
    """From an array over a TF_Tensor to what a step takes, which is the same array.

    It raises InvalidArgumentError where the dtype is another, or the shape unless that
    may be any.
    """
    dtype = tensor.dtype.base_dtype
    dims = None if any_shape else tensor.shape.dims_tuple
    if not dtype.is_numpy_compatible:  # a handle as a step gave it
        return _handle_converter(tensor)
    np_dtype = dtype.np_dtype

    def convert(array: np.ndarray[Any, Any]) -> Any:
        if type(array) is not np.ndarray or array.dtype != np_dtype:
            raise invalid_argument(
                f"The value that is fed for {tensor.name} is "
                f"{_dtype_name(array)}, and the tensor is {dtype.name}"
            )
        if dims is not None and not _fits(array.shape, dims):
            raise _OtherShapeError(
                None,
                None,
                f"Cannot feed value of shape {array.shape} for Tensor "
                f"'{tensor.name}', which has shape '{tensor.shape}'",
            )
        if array.dtype.names is not None:
            array = dtypes.memory_view(array)
        # A scalar is as a kernel gives it: of NumPy, but bytes have no shape.
        return array if array.ndim or array.dtype == object else array[()]

    return convert


def _handle_converter(tensor: Tensor) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            raise invalid_argument(
                f"The value that is fed for {tensor.name} is no {tensor.dtype.name}"
            )
        return value

    return convert


def _dtype_name(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return "a handle"
    return dtypes.as_dtype(value.dtype).name


def _fits(shape: tuple[int, ...], dims: tuple[int | None, ...]) -> bool:
    if len(shape) != len(dims):
        return False
    return all(
        dim is None or dim == size for size, dim in zip(shape, dims, strict=True)
    )


def run_traced(
    plan: Plan, values: list[Any], options: bytes
) -> tuple[list[Any], bytes]:
    """Runs a step with serialized RunOptions: (results, serialized RunMetadata).

    Raises:
      InvalidArgumentError: the bytes are no RunOptions.
      errors.OpError: the step failed.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.config_pb2 import RunMetadata, RunOptions

    try:
        parsed = RunOptions.FromString(options)
    except DecodeError:
        raise invalid_argument("Unparseable RunOptions proto") from None
    metadata = RunMetadata()
    results = plan.run_traced(values, parsed, metadata)
    return results, metadata.SerializeToString()


# --- Partial runs -----------------------------------------------------------------


def partial_run_setup(
    session: BaseSession,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
) -> str:
    """Announces a step that is run in parts; returns its handle.

    Raises:
      CancelledError: the session is closed.
      errors.OpError, ValueError: the graph cannot be run so.
    """
    _check_open(session)
    check_step(session.graph, feeds, [*fetches, *targets])
    return session.partial_run_setup([*fetches, *targets], list(feeds))


def partial_run(
    handle: str,
    step: tuple[BaseSession, list[Tensor], list[Tensor], list[Operation]],
    values: list[Any],
) -> list[Any]:
    """Runs a part of a step; the values of the fetches.

    The targets were announced, and run when what they need is there.

    Raises:
      CancelledError: the session is closed.
      InvalidArgumentError: a value does not fit its tensor, or a tensor was not
        announced or was there before.
      errors.OpError: the step failed.
    """
    session, feeds, fetches, _ = step
    _check_open(session)
    _check_feeds(feeds, fetches)
    fed = {t: _converter(t)(v) for t, v in zip(feeds, values, strict=True)}
    results: list[Any] = session.partial_run(handle, fetches, fed)
    return results


# --- SavedModels ------------------------------------------------------------------


def load_saved_model(
    graph: Graph,
    target: str | None,
    config: bytes | None,
    run_options: bytes,
    export_dir: str,
    tags: list[str],
) -> tuple[BaseSession, bytes]:
    """Loads a MetaGraph into an empty graph: (the session, serialized MetaGraphDef).

    Raises:
      InvalidArgumentError: the graph is not empty, or the run options are none.
      NotFoundError: there is no such SavedModel, or none with these tags.
      errors.OpError: it cannot be restored.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.config_pb2 import RunOptions
    from tensorloom.saved_model import export_directory, loader

    if graph._operations:
        raise invalid_argument("Graph is non-empty.")
    try:
        RunOptions.FromString(run_options)
    except DecodeError:
        raise invalid_argument("Unparseable RunOptions proto") from None
    if export_directory.find_message(export_dir) is None:
        raise _not_found(
            "Could not find SavedModel .pb or .pbtxt at supplied export directory "
            f"path: {export_dir}"
        )
    session = new_session(graph, target, config)
    try:
        with graph.as_default():
            meta_graph = loader.load(session, tags, export_dir)
    except OSError as error:
        session.close()
        raise _not_found(str(error)) from None
    except RuntimeError as error:
        session.close()
        raise _not_found(str(error)) from None
    except BaseException:
        session.close()
        raise
    return session, meta_graph.SerializeToString()


def _not_found(message: str) -> OpError:
    from tensorloom.framework.errors import NotFoundError

    return NotFoundError(None, None, message)


# --- Devices ----------------------------------------------------------------------


def devices(session: BaseSession) -> list[tuple[str, str, int, int]]:
    """(name, type, memory limit in bytes, incarnation) of each device.

    Raises:
      CancelledError: the session is closed.
    """
    return [
        (d.name, d.device_type, d.memory_limit_bytes, d.incarnation % 2**64)
        for d in session.list_devices()
    ]
