"""From the nodes of a piece to Python source: the heart of the executor.

A piece becomes straight Python: one line for each node, local variables for values,
kernels as global names, `if` and `while` for control flow. A step then looks nothing
up by name and parses nothing. `worker/compile/piece.py` compiles and runs the source;
`Piece.source` prints it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import FunctionIR, Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_kernel import KernelDef, OpKernelConstruction
from tensorloom.framework.runtime.resource import ResourceManager, is_torch_type
from tensorloom.framework.types.attr_ranges import check_attrs
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.kernels.host.array import buffer_forwarding
from tensorloom.worker.compile import loop_buffers, memory
from tensorloom.worker.compile.buffer_reuse import mark_as_shared, overwritable
from tensorloom.worker.compile.kernel_choice import (
    ANY,
    HOST,
    REF,
    TENSOR,
    choose_kernel,
    input_memory,
    may_be_shared,
    output_memory,
)
from tensorloom.worker.compile.values import Key, Root, Scope, Value
from tensorloom.worker.run import runtime
from tensorloom.worker.run.node_error import refused, to_op_error

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.registry.op_registry import OpDef

Emit = Callable[["Emitter", Scope, Node], None]
# Ops that are structure rather than computation; filled by the emit_* modules.
STRUCTURE: dict[str, Emit] = {}
CompileFunction = Callable[["Emitter", Any, bool], Callable[..., Any]]
# What makes a callable of a function of the library: one, which `piece.py` registers.
_function_compilers: list[CompileFunction] = []


def function_compiler(compile_function: CompileFunction) -> CompileFunction:
    """Registers what makes a callable of a function of the library."""
    _function_compilers.append(compile_function)
    return compile_function


# What takes no time: tensors for other tasks may wait for it, to be sent together.
_QUICK: Final = frozenset(
    {
        *("Const", "HostConst", "NoOp", "ControlTrigger", "Identity", "VariableV2"),
        *("Variable", "VarHandleOp", "ReadVariableOp", "_Arg", "_Retval"),
        *("_Send", "_HostSend"),
    }
)


class Emitter:
    """Writes the source of one piece."""

    def __init__(
        self,
        device: Device,
        resources: ResourceManager,
        functions: Mapping[str, FunctionIR],
        kernels: dict[tuple[str, str, str], Any],
        traced: bool = False,
    ) -> None:
        self.kernels = kernels
        self.device = device
        self.resources = resources
        self.functions = functions
        self.traced = traced
        self.names: dict[str, Any] = dict(runtime.NAMES)
        self.names["np"], self.names["math"] = np, math
        self.names["from_host"] = device.from_host
        self.names["to_host"] = device.to_host
        self.names["device"] = device
        self.uses_torch = False
        self.uses_context = False
        self.may_resize = False  # a variable that an Identity may have read
        # Nodes with shapes that are likely, where not all of these are known.
        self.likely: Mapping[str, Node] = {}
        self.traced_nodes: list[Node] = []
        self.results: dict[int, tuple[Scope, str]] = {}  # fetch index -> expression
        self._segment_of_name: dict[str, Scope] = {}
        self._count = 0

    # --- names -------------------------------------------------------

    def new_name(self, scope: Scope, prefix: str = "v") -> str:
        """A fresh local name, owned by the segment of `scope`."""
        self._count += 1
        name = f"{prefix}{self._count}"
        self._segment_of_name[name] = scope.segment
        return name

    def bind(self, value: Any, prefix: str = "k") -> str:
        """A global name for a kernel, a constant or another object."""
        self._count += 1
        name = f"{prefix}{self._count}"
        self.names[name] = value
        return name

    def use(self, scope: Scope, name: str) -> str:
        """`name` as it can be written in `scope`; other segments hand it over."""
        here, there = scope.segment, self._segment_of_name.get(name)
        if there is not None and there is not here:
            here.imports.add(name)
            there.exports.add(name)
        return name

    def is_local(self, name: str) -> bool:
        """True for a local variable, False for a global name."""
        return name in self._segment_of_name

    # --- values ------------------------------------------------------

    def host(self, scope: Scope, value: Value) -> str:
        """The value in host memory, as an expression."""
        if value.is_ref:
            return f"read_host({self.use(scope, self.holder(value))})"
        if value.host_name is None:
            if value.constant is not None:
                value.host_name = self.bind(runtime.host_constant(value.constant), "c")
                value.is_scalar = isinstance(self.names[value.host_name], np.generic)
            else:
                assert value.tensor_name is not None
                name = self.new_name(value.owner)
                value.owner.write(f"{name} = to_host({value.tensor_name})", None)
                value.host_name = name
        return self.use(scope, value.host_name)

    def tensor(self, scope: Scope, value: Value) -> str:
        """The value as a torch tensor, as an expression."""
        self.uses_torch = True
        if value.is_ref:
            return f"read_tensor({self.use(scope, self.holder(value))}, from_host)"
        if value.tensor_name is None:
            if value.constant is not None:
                value.tensor_name = self.bind(
                    self.device.from_host(value.constant), "c"
                )
            else:
                assert value.host_name is not None
                name = self.new_name(value.owner)
                value.owner.write(f"{name} = from_host({value.host_name})", None)
                value.tensor_name = name
        return self.use(scope, value.tensor_name)

    def holder(self, value: Value) -> str:
        """The variable behind a reference edge."""
        assert value.host_name is not None
        return value.host_name

    def any_memory(self, scope: Scope, value: Value) -> str:
        """The value in the memory where it is now."""
        if value.tensor_name is not None and not value.is_ref:
            return self.tensor(scope, value)
        return self.host(scope, value)

    def expression(self, scope: Scope, value: Value, want: str) -> str:
        """The value in the memory that a kernel wants."""
        if want == REF:
            return self.use(scope, self.holder(value))
        if want == ANY:
            return self.any_memory(scope, value)
        if want == HOST or not is_torch_type(value.dtype):
            return self.host(scope, value)
        return self.tensor(scope, value)

    def define(
        self, scope: Scope, node: Node, index: int, host: bool, root: Root
    ) -> Value:
        """A new value for one output of a node, with a fresh name."""
        dtype = node.output_types[index]
        shapes = node.output_shapes
        name = self.new_name(scope)
        value = Value(
            dtype,
            UNKNOWN if shapes is None else shapes[index],
            scope,
            root,
            host_name=name if host else None,
            tensor_name=None if host else name,
            is_ref=dtype._is_ref_dtype,
        )
        likely = self.likely.get(node.name)
        if likely is not None and likely.output_shapes is not None:
            value.likely = likely.output_shapes[index]
        scope.values[node.name, index] = value
        return value

    # --- blocks ------------------------------------------------------

    def emit_block(
        self, scope: Scope, nodes: Iterable[Node], keep: Iterable[Any]
    ) -> None:
        """Emits nodes (in topological order) into one scope.

        Args:
          keep: keys of values that are needed after the block.
        """
        nodes = list(nodes)
        plan_drops(scope, nodes, set(keep))
        for node in nodes:
            self.emit_node(scope, node)

    def emit_node(self, scope: Scope, node: Node) -> None:
        """Emits one node, and drops the values that nobody needs after it."""
        self._flush_before(scope, node)
        if self.traced:
            scope.write("t = clock()", None)
        emit = scope.special.get(node.name)
        if emit is None and (node.op in STRUCTURE or node.op in self.functions):
            mark_as_shared(scope.values.get(key) for key in node.inputs)
            emit = STRUCTURE.get(node.op) or STRUCTURE["<call>"]
        if emit is not None:
            try:
                emit(self, scope, node)
            except Exception as error:
                told = self._refused(scope, node, error)
                if told is error:
                    raise
                raise told from error
        else:
            self.emit_kernel(scope, node)
        if self.traced:
            self.uses_context = True
            named = node.replace(name=scope.prefix + node.name)
            self.traced_nodes.append(named if scope.prefix else node)
            slots = range(len(node.output_types))
            made = ", ".join(self._traced(scope, (node.name, slot)) for slot in slots)
            used = ", ".join(self._traced(scope, key) for key in node.inputs)
            number = len(self.traced_nodes) - 1
            scope.write(f"context.record({number}, t, [{made}], [{used}])", None)
        self._drop(scope, node)

    def _traced(self, scope: Scope, key: tuple[str, int]) -> str:
        """What a trace is told of a value: its name, or None where it has none here."""
        value = scope.values.get(key)
        for name in () if value is None else (value.tensor_name, value.host_name):
            segment = None if name is None else self._segment_of_name.get(name)
            if name is not None and segment is scope.segment:
                return name
        return "None"

    def _flush_before(self, scope: Scope, node: Node) -> None:
        """Lets tensors for other tasks go before a node that takes time.

        Those that may be held go only before one that may wait for another task: any
        but a plain computation.
        """
        if node.op in _QUICK:
            return
        op_def = None if node.op in STRUCTURE else op_registry.find(node.op)
        computes = op_def is not None and not op_def.is_stateful
        if scope.has_unsent or (scope.has_held and not computes):
            scope.write("context.rendezvous.flush()", None)
            scope.has_unsent = scope.has_held = False

    def _drop(self, scope: Scope, node: Node) -> None:
        if not scope.drops_values:
            return
        names = [
            name
            for value in scope.dying(node.name)
            if value.owner is scope and not value.is_scalar and not value.pinned
            for name in (value.host_name, value.tensor_name)
            if name is not None and name in self._segment_of_name
        ]
        if names:
            scope.write("del " + ", ".join(names), None)

    # --- kernels -----------------------------------------------------

    def inputs_of(self, scope: Scope, node: Node) -> list[Value]:
        """The values that a node takes."""
        return [self.lookup(scope, key) for key in node.inputs]

    def lookup(self, scope: Scope, key: tuple[str, int]) -> Value:
        """The value of a key in this scope (bodies see their arguments only)."""
        value = scope.values.get(key)
        if value is None:
            raise errors.InvalidArgumentError(
                None, None, f"Tensor '{key[0]}:{key[1]}' has not been computed"
            )
        return value

    def emit_kernel(self, scope: Scope, node: Node) -> None:
        """Emits the call of a node's kernel, or its inline expression."""
        op_def = op_registry.find(node.op)
        if op_def is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Op type not registered '{node.op}' in binary running on this "
                "machine.",
            )
        inputs = self.inputs_of(scope, node)
        likely = self.likely.get(node.name, node)
        kernel = choose_kernel(likely, inputs, self.device.kernel_type)
        if not kernel.host:
            self.uses_torch = True
        if kernel.inline and _is_scalar_arithmetic(node, inputs):
            self._emit_inline(scope, node, kernel, inputs)
            return
        wants = input_memory(op_def, kernel, node, len(inputs))
        arguments = [
            self.expression(scope, value, want)
            for value, want in zip(inputs, wants, strict=True)
        ]
        if kernel.context:
            self.uses_context = True
            arguments.insert(0, "context")
        compute = self._compute(scope, node, op_def, kernel, inputs)
        if not kernel.host or not buffer_forwarding.is_maker(compute):
            mark_as_shared(inputs)
            name = self.bind(compute)
            self._emit_call(scope, node, op_def, kernel, inputs, name, arguments)
            return
        out = None
        if compute in buffer_forwarding.UFUNCS and (
            out := overwritable(scope, node, inputs)
        ):
            compute = buffer_forwarding.UFUNCS[compute]
            arguments.append(self.host(scope, out))
        name = self.bind(compute)
        self._emit_call(scope, node, op_def, kernel, inputs, name, arguments)
        value = scope.values[node.name, 0]
        value.is_own = True
        value.root.shared = False
        if out is not None:
            loop_buffers.overwritten(out, value)
        else:
            loop_buffers.note(self, scope, node, compute, arguments)

    def make_kernel(
        self, scope: Scope, node: Node, inputs: Sequence[Value]
    ) -> Callable[..., Any]:
        """The compute function of a node, for the emit modules."""
        op_def = op_registry.find(node.op)
        assert op_def is not None, node.op
        kernel = choose_kernel(node, inputs, self.device.kernel_type)
        return self._compute(scope, node, op_def, kernel, inputs)

    def _compute(
        self,
        scope: Scope,
        node: Node,
        op_def: OpDef,
        kernel: KernelDef,
        inputs: Sequence[Value],
    ) -> Callable[..., Any]:
        """The node's kernel; one with state is made once for the whole session."""
        if not op_def.is_stateful:
            return self._made(kernel, scope, node, inputs)
        memory_kind = HOST if kernel.host else TENSOR
        # Two functions that one node calls may have nodes of one name.
        name = "/".join((*scope.functions, scope.prefix, node.name))
        # A pass may have made a node of another op of it, in another graph.
        key = f"{name} {node.op}", self.device.name, memory_kind
        compute = self.kernels.get(key)
        if compute is None:
            compute = self._made(kernel, scope, node, inputs)
            self.kernels[key] = compute
        return compute

    def _made(
        self, kernel: KernelDef, scope: Scope, node: Node, inputs: Sequence[Value]
    ) -> Callable[..., Any]:
        """The kernel of a node, whose attrs it may refuse."""
        construction = self.construction(scope, node, inputs)
        try:
            check_attrs(node)
            return kernel.factory(construction)
        except Exception as error:
            told = self._refused(scope, node, error)
            cause = error.__cause__ if isinstance(error, errors.OpError) else error
            raise told from cause

    def _refused(self, scope: Scope, node: Node, error: Exception) -> errors.OpError:
        """What is wrong with a node, as an error that names it."""
        name = scope.prefix + node.name
        return refused(to_op_error(error), name, node.op, self.device.name)

    def construction(
        self, scope: Scope, node: Node, inputs: Sequence[Value]
    ) -> OpKernelConstruction:
        """What a kernel factory gets for a node."""
        if scope.prefix:
            node = node.replace(name=scope.prefix + node.name)
        return OpKernelConstruction(
            node,
            self.device.name,
            self.device.kernel_type,
            tuple([v.dtype.base_dtype for v in inputs]),
            tuple([v.shape for v in inputs]),
            self.resources,
            self.device.torch_device,
            self.compile_function,
            tuple([v.constant for v in inputs]),
            self.functions,
        )

    def compile_function(
        self,
        name: Any,
        host_results: bool = False,
        library: Mapping[str, FunctionIR] | None = None,
    ) -> Callable[..., Any]:
        """A function of the library, or of another one, as a callable over values."""
        emitter = self
        if library is not None:
            functions = {**self.functions, **library}
            emitter = Emitter(self.device, self.resources, functions, {})
        return _function_compilers[-1](emitter, name, host_results)

    def _emit_inline(
        self, scope: Scope, node: Node, kernel: KernelDef, inputs: Sequence[Value]
    ) -> None:
        arguments = [self.scalar(scope, value) for value in inputs]
        value = self.define(scope, node, 0, True, Root())
        value.is_scalar = True
        scope.write(f"{value.host_name} = {kernel.inline.format(*arguments)}", node)

    def scalar(self, scope: Scope, value: Value) -> str:
        """A rank-0 number as a NumPy scalar."""
        text = self.host(scope, value)
        return text if value.is_scalar else f"{text}[()]"

    def _emit_call(
        self,
        scope: Scope,
        node: Node,
        op_def: OpDef,
        kernel: KernelDef,
        inputs: Sequence[Value],
        compute: str,
        arguments: Sequence[str],
    ) -> None:
        root = Root(shared=may_be_shared(kernel, inputs))
        if kernel.retains:
            for value in inputs:
                value.root.shared = True
        in_host = output_memory(op_def, kernel, node)
        outputs = [
            self.define(scope, node, i, in_host[i], root)
            for i in range(len(node.output_types))
        ]
        handle = _handle_of(node, inputs)
        is_returnable = memory.is_returnable(inputs, self.device.kernel_type)
        if [arg.name for arg in op_def.outputs][-1:] in (["flow"], ["flow_out"]):
            outputs[-1].is_scalar = True  # of a tensor array: one constant
        variable = self._variable_read(node, inputs)
        for value in outputs:
            value.variable = variable
            value.is_returnable = is_returnable or memory.steers(
                value.shape, value.dtype, self.device.kernel_type
            )
            value.handle = (
                handle if value.is_ref or value.dtype.name == "resource" else None
            )
        names = [v.host_name or v.tensor_name or "" for v in outputs]
        call = f"{compute}({', '.join(arguments)})"
        if not outputs:
            scope.write(call, node)
        elif len(op_def.outputs) == 1 and not op_def.outputs[0].is_list:
            scope.write(f"{names[0]} = {call}", node)
        else:
            scope.write(f"({', '.join(names)},) = {call}", node)

    def _variable_read(self, node: Node, inputs: Sequence[Value]) -> str | None:
        """The variable whose value a node gives, see `Value.variable`."""
        if node.op == "Identity":
            return inputs[0].variable
        if node.op != "ReadVariableOp" or self.is_local(name := self.holder(inputs[0])):
            return None
        return name


def plan_drops(scope: Scope, nodes: Sequence[Node], keep: set[Any]) -> None:
    """Notes after which node each value is needed no more."""
    last: dict[Key, str] = {}
    for node in nodes:
        for index in range(len(node.output_types)):
            last[node.name, index] = node.name
        for key in node.inputs:
            last[key] = node.name
    ends: dict[str, list[Key]] = {}
    for key, name in last.items():
        if key not in keep:
            ends.setdefault(name, []).append(key)
    scope.ends = ends


def _is_scalar_arithmetic(node: Node, inputs: Sequence[Value]) -> bool:
    shapes = node.output_shapes
    return (
        shapes is not None
        and len(shapes) == 1
        and shapes[0].dims_tuple == ()
        and all(v.shape.dims_tuple == () and not v.is_ref for v in inputs)
        and all(is_torch_type(v.dtype) for v in inputs)
    )


def _handle_of(node: Node, inputs: Sequence[Value]) -> Any:
    """(dtype, shape) of the variable that an output handle or reference stands for."""
    for value in inputs:
        if value.handle is not None:
            return value.handle
    attrs = node.attrs
    if "dtype" in attrs and "shape" in attrs:
        return attrs["dtype"], attrs["shape"]
    return None
