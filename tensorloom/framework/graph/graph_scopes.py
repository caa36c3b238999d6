"""The scopes of a graph: names, devices, control dependencies, colocation, attrs.

`GraphScopes` is the part of `Graph` that a `with` block changes. The state is kept for
each thread apart, so that threads can build one graph together.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.graph.lifted_tensors import lift_operation
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import attr_value

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph

_VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")
VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")

# A device function sees the new operation and returns its device.
DeviceFunction = Callable[["Operation"], Any]


class _ScopeState(threading.local):
    """What the open `with` blocks of one thread say."""

    def __init__(self) -> None:
        self.name_stack: str | None = ""  # None: at the root, by name_scope(None)
        self.controllers: list[ControlDependencies] = []
        self.devices: list[str | DeviceFunction | None] = []
        self.static_device: str | None = ""  # None: a device function decides
        self.colocation: list[Operation] = []
        self.attrs: dict[str, Any] = {}
        self.gradient_overrides: dict[str, str] = {}
        self.kernel_labels: dict[str, str] = {}
        self.container = ""
        self.control_flow_context: Any = None
        # (priority, creator) of `variable_creator_scope`, outermost first.
        self.variable_creators: list[Any] = []
        # Whose replicas are built: see client/distribution/thread_modes.py.
        self.strategies: tuple[Any, ...] = ()


class ControlDependencies:
    """One `with control_dependencies(...)` block."""

    def __init__(
        self, scopes: GraphScopes, control_inputs: list[Operation] | None
    ) -> None:
        self._scopes = scopes
        # None clears the dependencies of the blocks around it.
        self._new_stack = control_inputs is None
        self.control_inputs = control_inputs or []
        self.seen: set[Operation] = set()
        self._saved: list[tuple[list[ControlDependencies], Any]] = []

    def __enter__(self) -> None:
        state = self._scopes._scopes
        self._saved.append((state.controllers, state.control_flow_context))
        if self._new_stack:
            state.controllers = [self]
            state.control_flow_context = None
        else:
            state.controllers = [*state.controllers, self]

    def __exit__(self, *exc_info: object) -> None:
        state = self._scopes._scopes
        state.controllers, state.control_flow_context = self._saved.pop()


class GraphScopes:
    """Mixin of `Graph` with the state of its scopes."""

    # The scope around a branch or a loop's body: TensorFlow's names of what is in it
    # begin with that, so they may be what a whole graph's may not.
    outer_scope = ""

    def __init__(self) -> None:
        self._scopes = _ScopeState()
        self._names_in_use: dict[str, int] = {}
        self._container = ""

    # --- names -----------------------------------------------------------------

    @property
    def _name_stack(self) -> str | None:
        return self._scopes.name_stack

    @_name_stack.setter
    def _name_stack(self, name: str | None) -> None:
        self._scopes.name_stack = name

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` under the current scope, with `_1`, `_2`, ... if it is taken.

        Names are compared without regard to case.
        """
        stack = self._scopes.name_stack
        if stack:
            name = f"{stack}/{name}"
        used = self._names_in_use
        key = name.lower()
        count = used.get(key, 0)
        if mark_as_used:
            used[key] = count + 1
        if count == 0:
            return name
        base, candidate = key, key
        while candidate in used:
            candidate = f"{base}_{count}"
            count += 1
        if mark_as_used:
            used[candidate] = 1
        return f"{name}_{count - 1}"

    def enter_name_scope(self, name: str | None) -> tuple[str, str | None]:
        """Enters a scope; returns (the scope's prefix, the scope to go back to).

        Raises:
          ValueError: the name is not a valid scope name.
        """
        state = self._scopes
        outer = state.name_stack
        if name:
            if not isinstance(name, str):
                raise TypeError(f"Expected string for scope name, got {name!r}")
            is_inside = outer or self.outer_scope
            valid = _VALID_SCOPE_NAME if is_inside else VALID_OP_NAME
            if not valid.match(name):
                raise ValueError(f"'{name}' is not a valid scope name")
            is_full = name.endswith("/")
            scope: str | None = name[:-1] if is_full else self.unique_name(name)
        else:
            scope = None
        state.name_stack = scope
        return (f"{scope}/" if scope else ""), outer

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Names of operations made inside begin with the scope's name.

        A name that ends in `/` is entered as it is, None or "" leads to the root.

        Raises:
          ValueError: the name is not a valid scope name.
        """
        scope, outer = self.enter_name_scope(name)
        try:
            yield scope
        finally:
            self._scopes.name_stack = outer

    def switch_to_thread_local(self) -> None:
        """Nothing to do: each thread has scopes of its own from the start."""

    def get_name_scope(self) -> str | None:
        """The current scope without its `/`.

        Empty at the root, and None inside `name_scope(None)`.
        """
        return self._scopes.name_stack

    def name_scope_around(self) -> str | None:
        """The current scope, with what is around a branch or a loop's body.

        A scope that was entered by its full name, and is none of the body's own, is in
        nothing. None inside `name_scope(None)`.
        """
        scope = self._scopes.name_stack
        if scope is None or not self.outer_scope:
            return scope
        if scope and scope.partition("/")[0].lower() not in self._names_in_use:
            return scope
        return (self.outer_scope + scope).rstrip("/")

    # --- devices ---------------------------------------------------------------

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Operations made inside get this device where they ask for none.

        Args:
          device_name_or_function: a device string or DeviceSpec, which may be
            partial; a function from an operation to one; or None, which hides the
            devices of the blocks around it.

        Raises:
          ValueError: the string is not a device name.
        """
        spec = device_name_or_function
        if spec is not None and not callable(spec):
            text = spec if isinstance(spec, str) else spec.to_string()
            spec = DeviceSpec.from_string(text).to_string()
        state = self._scopes
        saved = state.devices, state.static_device
        state.devices = [*state.devices, spec]
        state.static_device = _merge_static(state.devices)
        try:
            yield
        finally:
            state.devices, state.static_device = saved

    @property
    def has_devices(self) -> bool:
        """Whether a device block is open (that no colocation hides)."""
        return bool(self._scopes.devices)

    @contextmanager
    def devices_of(self, inner: Graph) -> Iterator[None]:
        """Operations made inside get the device that they would get in `inner`.

        Args:
          inner: the graph of a body inside this one, or this graph itself.
        """
        state, theirs = self._scopes, inner._scopes
        saved = state.devices, state.static_device
        state.devices, state.static_device = theirs.devices, theirs.static_device
        try:
            yield
        finally:
            state.devices, state.static_device = saved

    def _device_for(self, op: Operation) -> str:
        """What the device blocks say for a new operation, innermost first."""
        for spec in reversed(self._scopes.devices):
            if spec is None:
                break
            if callable(spec):
                result = spec(op)
                if result is None:
                    continue
                # A string stays as the function wrote it.
                op._device = result if isinstance(result, str) else result.to_string()
            else:
                op._device = _merge(spec, op._device)
        return op._device

    # --- control dependencies ----------------------------------------------------

    def control_dependencies(self, control_inputs: Any) -> ControlDependencies:
        """Operations made inside run after `control_inputs` have run.

        Args:
          control_inputs: operations or tensors; None clears the dependencies of the
            blocks around it.

        Raises:
          TypeError: an element is neither.
        """
        if control_inputs is None:
            return ControlDependencies(self, None)
        ops: list[Operation] = []
        # What is waited for already is not waited for again.
        current = self._current_control_dependencies()
        for value in control_inputs:
            value = _control_input(value)
            if isinstance(value, Tensor):
                value = value._op
            if isinstance(value, Operation):
                value = lift_operation(value, self)
            op: Operation = self.as_graph_element(value)  # type: ignore[attr-defined]
            if isinstance(op, Tensor):
                op = op.op
            if op not in current:
                ops.append(op)
                current.add(op)
        return ControlDependencies(self, ops)

    def _control_inputs_for(self, inputs: Iterable[Tensor]) -> list[Operation]:
        """What the control blocks add to a new operation with these inputs."""
        input_ops = {t._op for t in inputs}
        control: dict[Operation, None] = {}
        for controller in self._scopes.controllers:
            # An input made inside the block is behind its dependencies already.
            if not input_ops.isdisjoint(controller.seen):
                continue
            for op in controller.control_inputs:
                if op not in input_ops:
                    control[op] = None
        return list(control)

    def _current_control_dependencies(self) -> set[Operation]:
        return {
            op
            for controller in self._scopes.controllers
            for op in controller.control_inputs
        }

    # --- colocation, containers, attrs -------------------------------------------

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Operations made inside go to the device of `op` (an op or a tensor).

        Raises:
          ValueError: `op` is None while `ignore_existing` is False.
        """
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but "
                "ignore_existing is not True"
            )
        state = self._scopes
        saved = state.devices, state.static_device, state.colocation
        colocation = [] if ignore_existing else state.colocation
        if op is not None:
            if not hasattr(op, "colocation_groups"):
                op = getattr(op, "op", op)
            colocation = [*colocation, op]
        # The colocated device decides alone; device blocks around do not count.
        state.devices, state.static_device = [], ""
        state.colocation = colocation
        try:
            yield
        finally:
            state.devices, state.static_device, state.colocation = saved

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Stateful operations made inside keep their state in this container."""
        state = self._scopes
        saved, state.container = state.container, container_name
        try:
            yield container_name
        finally:
            state.container = saved

    @contextmanager
    def _attr_scope(self, attr_map: Mapping[str, Any]) -> Iterator[None]:
        """Sets attrs on the operations made inside; None as a value removes one.

        A callable value is asked for each operation.

        Raises:
          TypeError: `attr_map` is not a dict of attrs by name.
        """
        if not isinstance(attr_map, Mapping):
            raise TypeError("attr_map must be a dictionary mapping strings to attrs")
        state = self._scopes
        saved = state.attrs
        merged = dict(saved)
        for name, value in attr_map.items():
            if value is None:
                merged.pop(name, None)
            else:
                merged[name] = value
        state.attrs = merged
        try:
            yield
        finally:
            state.attrs = saved

    @contextmanager
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """Operations made inside use the gradient registered under another name.

        Raises:
          TypeError: `op_type_map` is not a dict from strings to strings.
        """
        _check_string_map(op_type_map, "op_type_map")
        state = self._scopes
        saved = state.gradient_overrides
        state.gradient_overrides = {**saved, **op_type_map}
        try:
            yield
        finally:
            state.gradient_overrides = saved

    @contextmanager
    def _kernel_label_map(self, labels: Mapping[str, str]) -> Iterator[None]:
        """Operations made inside get a `_kernel` attr.

        Raises:
          TypeError: `labels` is not a dict from strings to strings.
        """
        _check_string_map(labels, "op_to_kernel_label_map")
        state = self._scopes
        saved = state.kernel_labels
        state.kernel_labels = {**saved, **labels}
        try:
            yield
        finally:
            state.kernel_labels = saved

    def _get_control_flow_context(self) -> Any:
        return self._scopes.control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._scopes.control_flow_context = context

    def _apply_scopes(self, op: Operation) -> None:
        """Gives a new operation what the open scopes say beside names and control."""
        state = self._scopes
        if state.attrs or state.kernel_labels or state.gradient_overrides:
            _add_scope_attrs(op, state)
        op._control_flow_context = state.control_flow_context
        for controller in state.controllers:
            controller.seen.add(op)
        static = state.static_device
        if static is None:
            self._device_for(op)
        elif static:
            op._device = static
        if state.colocation:
            self._apply_colocation(op, state.colocation)
        if (
            state.container
            and op._op_def.is_stateful
            and not op._attrs.get("container", 1)
        ):
            op._attrs["container"] = state.container.encode()

    def _apply_colocation(self, op: Operation, colocation: list[Operation]) -> None:
        groups: set[bytes] = set()
        device_set = False
        for other in reversed(colocation):
            groups.update(other.colocation_groups())
            if other.device and not device_set:
                op._device = other.device
                device_set = True
        op._attrs["_class"] = sorted(groups)


def _add_scope_attrs(op: Operation, state: _ScopeState) -> None:
    """Attrs that open attr scopes, kernel labels and gradient overrides ask for."""
    attrs = op._attrs
    if state.attrs:
        for name, value in state.attrs.items():
            if name in attrs:
                continue
            if callable(value):
                value = value(op.node_def)
            if value is not None:
                attrs[name] = attr_value.decoded(value)
    if state.kernel_labels:
        label = state.kernel_labels.get(op._type)
        if label is not None and "_kernel" not in attrs:
            attrs["_kernel"] = label.encode()
    if state.gradient_overrides:
        override = state.gradient_overrides.get(op._type)
        if override is not None and "_gradient_op_type" not in attrs:
            attrs["_gradient_op_type"] = override.encode()


def _merge(outer: str, inner: str) -> str:
    """The device of `inner`, with what it leaves open taken from `outer`."""
    if not inner:
        return outer
    if not outer:
        return inner
    spec = DeviceSpec.from_string(outer)
    return spec.make_merged_spec(DeviceSpec.from_string(inner)).to_string()


def set_devices(graph: Any, devices: list[str | DeviceFunction | None]) -> None:
    """Makes these the open device blocks of a graph, outermost first."""
    graph._scopes.devices = devices
    graph._scopes.static_device = _merge_static(devices)


def _merge_static(devices: list[str | DeviceFunction | None]) -> str | None:
    """The device that a stack gives to every op; None if a function takes part."""
    device = ""
    for spec in reversed(devices):
        if spec is None:
            break
        if not isinstance(spec, str):
            return None
        device = _merge(spec, device)
    return device


def _control_input(value: Any) -> Any:
    """Variables and slices stand for their operation in control dependencies."""
    if hasattr(value, "_handle") and hasattr(value, "op"):
        return value.op  # a resource variable: its handle's op
    return getattr(value, "_control_op", value)


def _check_string_map(value: Any, name: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dictionary mapping strings to strings")
    for key, item in value.items():
        if not isinstance(key, str) or not isinstance(item, str):
            raise TypeError(f"{name} must be a dictionary mapping strings to strings")
