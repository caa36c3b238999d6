"""A compiled piece: the source of its nodes, run step after step.

The line of the generated source that raised tells which node failed; its local
variables tell the shapes of what the node got.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.graph.node_shapes import with_shapes
from tensorloom.framework.runtime.resource import ResourceManager, is_torch_type
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.worker.compile import (
    dataflow_piece,
    emit_control_flow,
    emit_function_ops,
    emit_loops,
    emit_structure,
    memory,
    parallel_segments,
)
from tensorloom.worker.compile.emitter import Emitter, function_compiler
from tensorloom.worker.compile.generated_code import Code
from tensorloom.worker.compile.reference_reads import may_resize
from tensorloom.worker.compile.values import Root, Scope, Value
from tensorloom.worker.compiled import emit_compiled
from tensorloom.worker.run import inference, torch_threads
from tensorloom.worker.run.likely_shapes import with_likely_shapes
from tensorloom.worker.run.node_error import annotated

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.registry.op_kernel import OpKernelContext

# Importing the emit modules fills the table of structural ops.
_ = emit_compiled, emit_control_flow, emit_function_ops, emit_loops, emit_structure


class Piece:
    """The nodes of one device, compiled. `run` may be called by many threads."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        device: Device,
        resources: ResourceManager,
        functions: Mapping[str, FunctionIR],
        kernels: dict[tuple[str, str, str], Any],
        traced: bool = False,
    ) -> None:
        self.device = device
        self.resources = resources
        emitter = Emitter(device, resources, functions, kernels, traced)
        ordered = with_shapes(nodes)
        emitter.may_resize = may_resize(ordered, functions)
        emitter.likely = with_likely_shapes(ordered, resources)
        plan = parallel_segments.split(ordered, functions)
        self.segments = _emit_segments(emitter, plan)
        self.codes = [
            _assemble(emitter, scope, plan, index)
            for index, scope in enumerate(self.segments)
        ]
        self._plan = plan
        self._results = [emitter.results[i] for i in sorted(emitter.results)]
        self.result_indices = sorted(emitter.results)
        self.may_block = plan.has_blocking_ops
        self.is_sequential = plan.is_sequential
        self.uses_torch = emitter.uses_torch
        self.uses_context = emitter.uses_context or len(plan.members) > 1
        self.traced_nodes = emitter.traced_nodes
        self._computes = any(n.op not in _IDLE_OPS for n in ordered)
        self._inference_mode = inference.mode_of(self.uses_torch)
        if self.uses_torch:
            self._adjust_threads = torch_threads.adjuster()

    @property
    def source(self) -> str:
        """The generated Python source."""
        return "\n".join(code.source for code in self.codes)

    def run(self, args: Sequence[Any], context: OpKernelContext | None) -> list[Any]:
        """Runs one step: feeds by `_Arg` index in, fetches by `_Retval` index out.

        Raises:
          errors.OpError: a node failed; the message names it.
        """
        try:
            if self._inference_mode is not None:
                self._adjust_threads()
                with self._inference_mode(), np.errstate(all="ignore"):
                    return self._run(args, context)
            if self._computes:
                with np.errstate(all="ignore"):
                    return self._run(args, context)
            return self._run(args, context)
        except Exception as error:
            raise annotated(error, self.codes) from error.__cause__

    def _run(self, args: Sequence[Any], context: OpKernelContext | None) -> list[Any]:
        if len(self.codes) == 1:
            result: list[Any] = self.codes[0].function(args, context)
            return result
        step = parallel_segments.Run(
            [code.function for code in self.codes],
            self._plan,
            args,
            context,
            partial(inference.called, self._inference_mode),
        )
        frame = step.run()
        return [frame[name] for _, name in self._results]


# What computes nothing that could overflow.
_IDLE_OPS = frozenset(
    {
        *("NoOp", "_Arg", "_Retval", "Const", "ControlTrigger", "Identity"),
        *("VariableV2", "VarHandleOp", "ReadVariableOp", "_Send", "_Recv"),
    }
)


def _emit_segments(emitter: Emitter, plan: parallel_segments.Plan) -> list[Scope]:
    """One scope for each segment; nodes in the order of the whole piece."""
    single = len(plan.members) == 1
    scopes = [Scope(drops_values=single) for _ in plan.members]
    if single:
        emitter.emit_block(scopes[0], plan.members[0], ())
        return scopes
    values: dict[Any, Value] = {}
    for scope in scopes:
        scope.values = values
    for node, index in plan.order:
        emitter.emit_node(scopes[index], node)
    for scope, name in emitter.results.values():
        scope.segment.exports.add(name)
    return scopes


def _assemble(
    emitter: Emitter, scope: Scope, plan: parallel_segments.Plan, index: int
) -> Code:
    if scope.has_unsent or scope.has_held:
        how = "finish" if len(plan.members) == 1 else "flush"
        scope.write(f"context.rendezvous.{how}()", None)
    if len(plan.members) == 1:
        results = [emitter.results[i][1] for i in sorted(emitter.results)]
        return Code(
            emitter,
            "args, context",
            (),
            scope.lines,
            [f"return [{', '.join(results)}]"],
        )
    takes = [f"{name} = frame['{name}']" for name in sorted(scope.imports)]
    gives = [f"frame['{name}'] = {name}" for name in sorted(scope.exports)]
    return Code(
        emitter, "args, context, frame", takes, scope.lines, gives or ["return"]
    )


@function_compiler
def _compile_function(
    emitter: Emitter, function: Any, host_results: bool = False
) -> Callable[..., Any]:
    """A function as a callable: (context, values in either memory) to a tuple.

    It is compiled at its first call, so that functions may call themselves; results
    of numeric dtypes are tensors, or NumPy values with `host_results`.

    Raises:
      errors.InvalidArgumentError, errors.NotFoundError: it cannot be called.
    """
    if function.name in emitter.functions:
        emit_control_flow.find_function(emitter, function.name).check()
    compiled: list[Callable[..., Any]] = []

    def call(context: Any, *arguments: Any) -> Any:
        if not compiled:
            compiled.append(_compile_callable(emitter, function.name, host_results))
        return compiled[0](arguments, context)

    return call


def compile_over_tensors(
    emitter: Emitter, name: str
) -> Callable[[Sequence[Any], OpKernelContext | None], tuple[Any, ...]]:
    """A function of numbers as calls of torch alone, as a tracer of torch wants it.

    Arguments and results are tensors, and nothing goes through host memory but what is
    constant.
    """
    return _compile_callable(emitter, name, host_args=False)


def _compile_callable(
    outer: Emitter, name: str, host_results: bool = False, host_args: bool = True
) -> Callable[[Sequence[Any], OpKernelContext | None], tuple[Any, ...]]:
    """A function of the library as `call(args, context) -> results`.

    Arguments may be in either memory; results of numeric dtypes are tensors, or NumPy
    values with `host_results`. Without `host_args` small arguments are tensors, too.
    """
    function = emit_control_flow.find_function(outer, name)
    if emit_control_flow.is_interpreted(function, outer.functions):
        return dataflow_piece.compile_function(outer, function, host_results)
    make = type(outer)
    emitter = make(outer.device, outer.resources, outer.functions, outer.kernels)
    emitter.may_resize = outer.may_resize
    scope = Scope(functions=(name,))
    shapes = function.arg_shapes or (UNKNOWN,) * len(function.arg_names)
    for index, (arg, dtype) in enumerate(
        zip(function.arg_names, function.arg_types, strict=True)
    ):
        shape = shapes[index]
        host = not is_torch_type(dtype) or (
            host_args
            and memory.is_small(shape, dtype.is_integer, outer.device.kernel_type)
        )
        local = emitter.new_name(scope)
        text = f"args[{index}]"
        if is_torch_type(dtype):
            text = (
                f"received_host({text})" if host else f"received_tensor({text}, device)"
            )
        scope.write(f"{local} = {text}", None)
        scope.values[arg, 0] = Value(
            dtype,
            shape,
            scope,
            Root(shared=True),
            host_name=local if host else None,
            tensor_name=None if host else local,
        )
    nodes = emit_control_flow.needed_nodes(function)
    emitter.emit_block(scope, nodes, function.returns)
    results = []
    for key in function.returns:
        value = emitter.lookup(scope, key)
        results.append(
            emitter.tensor(scope, value)
            if is_torch_type(value.dtype) and not host_results
            else emitter.host(scope, value)
        )
    ends = [f"return ({', '.join(results)}{',' if results else ''})"]
    code = Code(emitter, "args, context", (), scope.lines, ends, name)
    outer.uses_torch = outer.uses_torch or emitter.uses_torch
    return code.function
