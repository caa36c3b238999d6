"""The underscore names that libraries for TensorFlow 1 use on graphs.

They are properties over what this package's graph keeps, under TensorFlow's names.
There is no C library below: `_c_graph` is the graph, and serves as an argument of the
few functions of `tensorflow.python.pywrap_tensorflow` that are here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph import graph_scopes

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation

_keys = itertools.count()


class ScopeStack(tuple[Any, ...]):
    """The open blocks of one kind, outermost first, as TensorFlow's stacks look."""

    __slots__ = ()

    def peek_objs(self) -> list[Any]:
        """What the blocks hold, innermost first."""
        return list(reversed(self))

    def peek_top_obj(self) -> Any:
        """What the innermost block holds. Raises IndexError where there is none."""
        return self[-1]

    def copy(self) -> ScopeStack:
        """The same blocks; a stack does not change."""
        return self


class GraphPrivateNames:
    """Mixin of `Graph`."""

    # A loss reduction and whether an optimizer scaled by it: libraries set them.
    _last_loss_reduction: Any = None
    _is_loss_scaled_by_optimizer = False
    _add_control_dependencies = False
    _registered_ops: Mapping[str, Any] = MappingProxyType({})
    # Whose gradient new operations are: see `_original_op`.
    _default_original_op: Operation | None = None

    @property
    def _c_graph(self) -> Any:
        return self

    @property
    def _building_function(self: Any) -> bool:
        """Whether `tf.init_scope` leaves the graph; libraries set it on their own."""
        return bool(self.__dict__.get("_said_to_build", self.building_function))

    @_building_function.setter
    def _building_function(self: Any, is_building: bool) -> None:
        self.__dict__["_said_to_build"] = is_building

    @property
    def _nodes_by_name(self: Any) -> Mapping[str, Operation]:
        return MappingProxyType(self._by_name)

    @property
    def _nodes_by_id(self: Any) -> dict[int, Operation]:
        return {op._id: op for op in self._operations}

    @property
    def _version(self: Any) -> int:
        return int(self.version)

    @property
    def _next_id_counter(self: Any) -> int:
        return int(self.version)

    @property
    def _graph_key(self) -> str:
        """A text that no other graph of the process has."""
        key: str = self.__dict__.setdefault("_key", "") or f"grap-key-{next(_keys)}/"
        self.__dict__["_key"] = key
        return key

    @property
    def _unfeedable_tensors(self: Any) -> Any:
        return self._unfeedable

    @property
    def _unfetchable_ops(self: Any) -> Any:
        return self._unfetchable

    def _get_operation_by_name_unsafe(self: Any, name: str) -> Operation | None:
        found: Operation | None = self._by_name.get(name)
        return found

    def _mutation_lock(self: Any) -> AbstractContextManager[Any]:
        """Held by who changes the graph from several threads."""
        lock: AbstractContextManager[Any] = self._lock
        return lock

    def _session_run_lock(self) -> AbstractContextManager[Any]:
        """Steps run while the graph grows: there is nothing to hold."""
        return nullcontext()

    # --- making operations ---------------------------------------------------------

    def _create_op_internal(
        self: Any,
        op_type: str,
        inputs: Any,
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_device: bool = True,
    ) -> Operation:
        """`create_op`, which here does no more than this."""
        made: Operation = self.create_op(
            op_type, inputs, dtypes, input_types, name, attrs, op_def
        )
        return made

    @contextmanager
    def _original_op(self, op: Operation) -> Iterator[None]:
        """New operations are the gradient of `op`, as errors of theirs say."""
        saved, self._default_original_op = self._default_original_op, op
        try:
            yield
        finally:
            self._default_original_op = saved

    def _apply_device_functions(self: Any, op: Operation) -> None:
        """Gives an operation the device that the open blocks ask for."""
        op._set_device(self._device_for(op))

    # --- functions -------------------------------------------------------------------

    def _add_function(self: Any, function: Any) -> None:
        """Adds a function of `tf.function` or `function.Defun`, or its definition."""
        if hasattr(function, "add_to_graph"):
            function.add_to_graph(self)
        else:
            self.add_function(function)

    def _copy_functions_to_graph_def(
        self: Any, graph_def: Any, starting_bytesize: int
    ) -> None:
        """Adds the graph's functions to the library of a GraphDef.

        Args:
          starting_bytesize: what the GraphDef takes without them.

        Raises:
          ValueError: it is larger than 2 GB with them.
        """
        from tensorloom.framework.graph.graph_def import function_library_to_proto

        library = function_library_to_proto(dict(self.functions))
        if starting_bytesize + library.ByteSize() >= 1 << 31:
            raise ValueError("GraphDef cannot be larger than 2GB.")
        graph_def.library.MergeFrom(library)

    def _as_graph_def(
        self: Any, from_version: int | None = None, add_shapes: bool = False
    ) -> tuple[Any, int]:
        """(the GraphDef, the version of the graph that it is of)."""
        version = int(self.version)
        return self.as_graph_def(from_version, add_shapes), version

    # --- open blocks ----------------------------------------------------------------

    @property
    def _device_function_stack(self: Any) -> ScopeStack:
        return ScopeStack(self._scopes.devices)

    @_device_function_stack.setter
    def _device_function_stack(self: Any, stack: Any) -> None:
        graph_scopes.set_devices(self, list(stack))

    @property
    def _device_functions_outer_to_inner(self: Any) -> list[Any]:
        return list(self._scopes.devices)

    @property
    def _colocation_stack(self: Any) -> ScopeStack:
        return ScopeStack(self._scopes.colocation)

    @_colocation_stack.setter
    def _colocation_stack(self: Any, stack: Any) -> None:
        self._scopes.colocation = list(stack)

    @property
    def _control_dependencies_stack(self: Any) -> list[Any]:
        found: list[Any] = self._scopes.controllers
        return found

    @_control_dependencies_stack.setter
    def _control_dependencies_stack(self: Any, stack: Any) -> None:
        self._scopes.controllers = list(stack)

    @property
    def _control_flow_context(self: Any) -> Any:
        return self._get_control_flow_context()

    @property
    def _gradient_override_map(self: Any) -> dict[str, str]:
        found: dict[str, str] = self._scopes.gradient_overrides
        return found

    @property
    def _op_to_kernel_label_map(self: Any) -> dict[str, str]:
        found: dict[str, str] = self._scopes.kernel_labels
        return found

    @property
    def _attr_scope_map(self: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._scopes.attrs
        return found

    @contextmanager
    def _variable_creator_scope(
        self: Any, creator: Any, priority: int = 100
    ) -> Iterator[None]:
        """Variables are made through `creator`; a higher priority is asked first.

        Raises:
          RuntimeError: a block that was opened inside is still open at the end.
        """
        saved = self._variable_creators
        mine = sorted([*saved, (priority, creator)], key=lambda item: item[0])
        self._variable_creators = mine
        try:
            yield
        finally:
            if self._variable_creators is not mine:
                raise RuntimeError(
                    "Exiting variable_creator_scope without proper nesting."
                )
            self._variable_creators = saved
