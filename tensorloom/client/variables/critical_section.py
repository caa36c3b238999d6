"""`tf.CriticalSection`: functions whose ops never run at the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    add_to_collection,
    colocate_with,
    control_dependencies,
    get_collection,
    get_default_graph,
    init_scope,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.lists.tensor_array import TensorArray

if TYPE_CHECKING:
    from collections.abc import Iterable

CRITICAL_SECTIONS = "critical_sections"
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"


class _Execution(NamedTuple):
    """One call of `execute`: what it locked and what it used."""

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


def _identity(value: Any) -> Any:
    if isinstance(value, TensorArray):
        return value.identity()
    if isinstance(value, Operation):
        return control_flow_ops.group(value)
    return array_ops.identity(value)


@export("CriticalSection")
class CriticalSection:
    """A mutex; what `execute` builds runs while it is locked.

    Args:
      name: of the mutex operation.
      shared_name: sections of this name in one container are one.
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def:
            raise ValueError("A CriticalSection cannot be made from a proto.")
        with name_scope(name, "CriticalSection", []) as scope, init_scope():
            self._handle: Tensor = apply_op(
                "MutexV2", shared_name=shared_name or scope, name=scope
            )
        add_to_collection(CRITICAL_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the mutex operation."""
        return self._handle.op.name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """What `fn` returns, computed while no other function of the section runs.

        Args:
          fn: takes nothing; returns tensors in any structure.
          exclusive_resource_access: no other section may use the same resources.

        Raises:
          ValueError: `fn` uses this section, or resources that belong to another.
        """
        with name_scope(name, "critical_section_execute", []):
            lock = apply_op("MutexLock", mutex=self._handle)
            graph = get_default_graph()
            before = len(graph.get_operations())
            with control_dependencies([lock]):
                result = fn()
            created = graph.get_operations()[before:]
            self._wait_for_arguments(created, lock.op)
            resources = self._captured(created, exclusive_resource_access)
            flat = [_identity(x) for x in nest.flatten(result)]
            with control_dependencies(flat):
                with colocate_with(self._handle):
                    unlock = apply_op("ConsumeMutexLock", mutex_lock=lock)
                result = nest.pack_sequence_as(
                    result, control_flow_ops.tuple(nest.flatten(result))
                )
            with control_dependencies([unlock]):
                outputs = nest.map_structure(_identity, result)
            execution = _Execution(
                lock.op, self._handle, resources, exclusive_resource_access
            )
            add_to_collection(CRITICAL_SECTION_EXECUTIONS, execution)
            return outputs

    def _wait_for_arguments(self, created: list[Operation], lock: Operation) -> None:
        """Everything that comes from outside is there before the lock is taken."""
        used = {i.op for op in created for i in op.inputs}
        used |= {op for created_op in created for op in created_op.control_inputs}
        used -= {*created, lock, *lock.control_inputs, *(i.op for i in lock.inputs)}
        if used:
            arguments = control_flow_ops.group(*sorted(used, key=lambda op: op._id))
            lock._add_control_input(arguments)

    def _captured(self, created: Iterable[Operation], exclusive: bool) -> list[Tensor]:
        captured = list(
            dict.fromkeys(
                i for op in created for i in op.inputs if i.dtype == dtypes.resource
            )
        )
        if any(self._is_own(x) for x in captured):
            raise ValueError(
                "The function fn attempts to directly access the CriticalSection in "
                "which it would be running.  This is illegal and would cause deadlocks."
            )
        for other in get_collection(CRITICAL_SECTION_EXECUTIONS):
            if self._is_own(other.handle):
                continue
            if not (exclusive or other.exclusive_resource_access):
                continue
            both = [x for x in captured if x in other.resources]
            if both:
                raise ValueError(
                    f"This execution would access resources: {both}.  Either this "
                    f"lock (CriticalSection: {self._handle}) or lock '{other}' "
                    f"(CriticalSection: {other.handle}) requested exclusive resource "
                    "access of this resource.  Did you mean to call execute with "
                    "keyword argument exclusive_resource_access=False?"
                )
        return captured

    def _is_own(self, x: Tensor) -> bool:
        own = self._handle.op
        return (
            x.op.type == "MutexV2"
            and x.op.get_attr("shared_name") == own.get_attr("shared_name")
            and x.op.device == own.device
        )
