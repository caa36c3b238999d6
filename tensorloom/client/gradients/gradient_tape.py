"""`tf.GradientTape` over a graph: gradients through what it saw being built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.captures import (
    captured_consumers,
    enclosing_functions,
)
from tensorloom.client.gradients.gradients import UnconnectedGradients, build_gradients
from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import pad as pad_ops
from tensorloom.ops.array import permute as permute_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.indexing import one_hot as one_hot_ops
from tensorloom.ops.math import sequence as math_ops_sequence

if TYPE_CHECKING:
    from types import TracebackType

    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation


@export("GradientTape")
class GradientTape:
    """Remembers which operations are built while it is entered.

    A gradient flows through those operations alone, from targets back to what is
    watched: trainable resource variables that the operations read, and what `watch`
    was told.

    Args:
      persistent: gradients may be asked for more than once.
      watch_accessed_variables: whether trainable variables are watched by themselves.
    """

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True
    ) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._is_used_up = False
        self.reset()

    def reset(self) -> None:
        """Forgets everything; as if the tape was entered now, if it is."""
        is_recording = getattr(self, "_started", None) is not None
        self._spans: list[tuple[Graph, int, int]] = []
        self._watched: list[Any] = []
        self._started: tuple[Graph, int] | None = None
        if is_recording:
            self._start()

    def __enter__(self) -> GradientTape:
        """Starts to record.

        Raises:
          ValueError: it records already.
        """
        if self._started is not None:
            raise ValueError("Tape is already recording.")
        if not self._persistent:
            self._spans, self._watched, self._is_used_up = [], [], False
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._started is not None:
            self._stop()

    def _start(self) -> None:
        graph = get_default_graph()
        self._started = (graph, graph.version)

    def _stop(self) -> None:
        if self._started is None:
            raise ValueError("Tape is not recording.")
        graph, first = self._started
        self._spans.append((graph, first, graph.version))
        self._started = None

    def stop_recording(self) -> _Pause:
        """A `with` block whose operations are not remembered.

        Raises:
          RuntimeError: the tape was used up.
        """
        if self._is_used_up:
            raise RuntimeError(
                "stop_recording() on a tape that has given its gradient already"
            )
        return _Pause(self)

    def watch(self, tensor: Any) -> None:
        """Makes tensors, or a structure of them, sources of gradients.

        Raises:
          ValueError: something is neither a tensor nor a variable.
        """
        for value in nest.flatten(tensor, expand_composites=True):
            if not (isinstance(value, Tensor) or _is_variable(value)):
                raise ValueError(
                    f"Passed in object of type {type(value)}, not tf.Tensor"
                )
            self._watched.append(_source(value))

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order of their making."""
        graph = get_default_graph()
        found = []
        for variable in _variables(graph):
            source = _source(variable)
            if _holds(self._watched, source) or self._reads(source, variable):
                found.append(variable)
        return tuple(found)

    # --- gradients -----------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradients of the sum of `target` by each of `sources`.

        Args:
          output_gradients: a gradient for each target; ones if it is None.

        Returns:
          A structure like `sources`: tensors, IndexedSlices, or None.

        Raises:
          RuntimeError: the tape is not persistent and gave a gradient before.
        """
        if self._is_used_up:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        if self._started is not None and not self._persistent:
            self._stop()
        ys = [
            t if isinstance(t, Tensor) else convert_to_tensor(t)
            for t in nest.flatten(target)
        ]
        given = nest.flatten(output_gradients) if output_gradients is not None else None
        flat = nest.flatten(sources)
        found = self._gradients(ys, flat, given, unconnected_gradients)
        if not self._persistent:
            self._is_used_up = True
        return nest.pack_sequence_as(sources, found)

    def _gradients(
        self,
        ys: list[Tensor],
        xs: Sequence[Any],
        given: Sequence[Any] | None,
        unconnected: Any,
    ) -> list[Any]:
        usable = [self._is_watched(x) for x in xs]
        kept = [
            i
            for i, y in enumerate(ys)
            if self._recorded(y.op) or _holds(self._watched, y)
        ]
        ends = [ys[i] for i in kept]
        stops = self._unrecorded(ends)
        result: list[Any] = [None] * len(xs)
        if ends and any(usable):
            result = build_gradients(
                ends,
                xs,
                None if given is None else [given[i] for i in kept],
                stop_gradients=stops,
            )
        result = [g if ok else None for g, ok in zip(result, usable, strict=True)]
        if UnconnectedGradients(unconnected) != UnconnectedGradients.ZERO:
            return result
        return [_zeros(x) if g is None else g for g, x in zip(result, xs, strict=True)]

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of each element of `target` by each of `sources`.

        Returns:
          Tensors of shape target.shape + source.shape, in a structure like `sources`.
        """
        del experimental_use_pfor
        flat_target = reshape_ops.reshape(target, [-1])
        rows = self._rows(
            target, flat_target, sources, unconnected_gradients, parallel_iterations
        )
        shape = shape_ops.shape(target)
        results = []
        for row, source in zip(rows, nest.flatten(sources), strict=True):
            if row is not None:
                tail = shape_ops.shape(convert_to_tensor(source))
                row = reshape_ops.reshape(row, concat_ops.concat([shape, tail], 0))
                row.set_shape(target.shape.concatenate(source.shape))
            results.append(row)
        return nest.pack_sequence_as(sources, results)

    def batch_jacobian(
        self,
        target: Tensor,
        source: Tensor,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives within each element of a batch.

        Args:
          target: [batch, ...], where row b depends on row b of `source` alone.
          source: [batch, ...].

        Returns:
          [batch, ...target, ...source].

        Raises:
          ValueError: the batch sizes differ.
        """
        del experimental_use_pfor
        if target.shape.rank is None or source.shape.rank is None:
            raise ValueError("The ranks of target and source must be known")
        target.shape[:1].assert_is_compatible_with(source.shape[:1])
        batch = shape_ops.shape(target)[:1]
        flat = reshape_ops.reshape(target, concat_ops.concat([batch, [-1]], 0))
        columns = permute_ops.transpose(flat)
        (rows,) = self._rows(
            target, columns, [source], unconnected_gradients, parallel_iterations
        )
        if rows is None:
            return None
        order = [1, 0, *range(2, source.shape.rank + 1)]
        result = reshape_ops.reshape(
            permute_ops.transpose(rows, order),
            concat_ops.concat(
                [shape_ops.shape(target), shape_ops.shape(source)[1:]], 0
            ),
        )
        result.set_shape(target.shape.concatenate(source.shape[1:]))
        return result

    def _rows(
        self,
        target: Tensor,
        parts: Tensor,
        sources: Any,
        unconnected: Any,
        parallel_iterations: int | None,
    ) -> list[Any]:
        """The gradients of each of `parts`, stacked, for each source."""
        from tensorloom.client.control_flow.map_fn import map_fn

        if self._is_used_up:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        flat = nest.flatten(sources)
        # The gradient is linear in what comes from the target: a row of an identity
        # matrix (or of one for each element of a batch) picks one part of it.
        known = self._gradients([target], flat, None, UnconnectedGradients.NONE)
        there = [i for i, g in enumerate(known) if g is not None]
        count = shape_ops.shape(parts)[0]

        def row(index: Tensor) -> Any:
            picked = _picked(target, parts, index)
            found = self._gradients(
                [target], [flat[i] for i in there], [picked], UnconnectedGradients.NONE
            )
            return [convert_to_tensor(g) for g in found]

        results: list[Any] = [None] * len(flat)
        if there:
            stacked = map_fn(
                row,
                math_ops_sequence.range(count),
                dtype=[_source_dtype(flat[i]) for i in there],
                parallel_iterations=parallel_iterations or 10,
            )
            for i, value in zip(there, stacked, strict=True):
                results[i] = value
        if UnconnectedGradients(unconnected) == UnconnectedGradients.ZERO:
            results = [
                _repeated(_zeros(x), count) if value is None else value
                for x, value in zip(flat, results, strict=True)
            ]
        if not self._persistent:
            self._is_used_up = True
        return results

    # --- what was recorded -----------------------------------------------

    def _recorded(self, op: Operation) -> bool:
        number = op._id_value
        spans = self._spans
        if self._started is not None:
            graph, first = self._started
            spans = [*spans, (graph, first, graph.version)]
        return any(
            op.graph is graph and first < number <= last for graph, first, last in spans
        )

    def _is_watched(self, x: Any) -> bool:
        source = _source(x)
        if _holds(self._watched, source):
            return True
        if getattr(x, "trainable", False):
            return self._reads(source, x)
        return source.dtype == dtypes.resource and any(
            self._reads(source, v)
            for v in _variables(source.graph)
            if _source(v) is source
        )

    def _reads(self, source: Tensor, variable: Any) -> bool:
        """Whether the variable watches itself: a recorded operation reads it."""
        return (
            self._watches_variables
            and bool(getattr(variable, "trainable", False))
            and any(self._recorded(op) for op in self._readers(source))
        )

    def _readers(self, source: Tensor) -> Iterator[Operation]:
        """What reads a tensor, in the bodies that were recorded too."""
        yield from source.consumers()
        graphs = [graph for graph, *_ in self._spans]
        if self._started is not None:
            graphs.append(self._started[0])
        for graph in graphs:
            yield from captured_consumers(source, enclosing_functions(graph))

    def _unrecorded(self, ends: Sequence[Tensor]) -> list[Tensor]:
        """What the recorded operations behind `ends` take from others."""
        stops: list[Tensor] = []
        seen: set[Operation] = set()
        queue = [t.op for t in ends]
        while queue:
            op = queue.pop()
            if op in seen:
                continue
            seen.add(op)
            if not self._recorded(op):
                stops += op.outputs
                continue
            queue += [t.op for t in op.inputs]
        return stops


class _Pause:
    """Operations within the block are not remembered."""

    def __init__(self, tape: GradientTape) -> None:
        self._tape = tape

    def __enter__(self) -> None:
        self._tape._stop()

    def __exit__(self, *unused: object) -> None:
        self._tape._start()


def _is_variable(value: Any) -> bool:
    # The class is asked: the initializer of variables with parts is a new operation.
    kind = type(value)
    return hasattr(kind, "trainable") and hasattr(kind, "initializer")


def _source(x: Any) -> Any:
    """The tensor that the gradient of a tensor or variable is taken by."""
    if isinstance(x, Tensor):
        return x
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor) and handle.dtype == dtypes.resource:
        return handle
    return x._ref() if hasattr(x, "_ref") else convert_to_tensor(x)


def _source_dtype(x: Any) -> Any:
    return x.dtype.base_dtype


def _holds(tensors: Sequence[Any], tensor: Any) -> bool:
    return any(t is tensor for t in tensors)


def _variables(graph: Graph) -> Iterator[Any]:
    seen: list[Any] = []
    for key in (
        GraphKeys.GLOBAL_VARIABLES,
        GraphKeys.LOCAL_VARIABLES,
        GraphKeys.TRAINABLE_VARIABLES,
    ):
        for variable in graph.get_collection(key):
            if not _holds(seen, variable) and _is_variable(variable):
                seen.append(variable)
                yield variable


def _zeros(x: Any) -> Tensor:
    zeros: Tensor = fill_ops.zeros_like(convert_to_tensor(x))
    return zeros


def _repeated(zeros: Tensor, count: Tensor) -> Tensor:
    """Zeros with a leading dimension of `count`."""
    shape = concat_ops.concat([[count], shape_ops.shape(zeros)], 0)
    result: Tensor = fill_ops.zeros(shape, zeros.dtype)
    return result


def _picked(target: Tensor, parts: Tensor, index: Tensor) -> Tensor:
    """Ones where `target` holds part number `index`, else zeros."""
    depth = shape_ops.shape(parts)[0]
    ones = one_hot_ops.one_hot(index, depth, dtype=target.dtype.base_dtype)
    if parts.shape.rank == 2:  # [part, batch]
        batch = shape_ops.shape(parts)[1]
        ones = pad_ops.tile(reshape_ops.expand_dims(ones, 0), [batch, 1])
    picked: Tensor = reshape_ops.reshape(ones, shape_ops.shape(target))
    return picked
