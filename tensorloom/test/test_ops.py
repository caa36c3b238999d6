"""The ops that TensorFlow registers for tests alone, registered by importing this.

    from tensorloom.test import test_ops

    test_ops.int_output(name="x")

Graphs of tests are made of them: their dtypes and attrs are all that matters. A
function is called after its op, as in TensorFlow's module of that name.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.program.version import GRAPH_DEF_VERSION
from tensorloom.compat.module_paths.op_functions import function_name, op_function
from tensorloom.framework import errors
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.registry.shape_inference import (
    no_outputs,
    scalar_shape,
    unknown_shapes,
)
from tensorloom.framework.runtime.resource import DEFAULT_CONTAINER, Resource
from tensorloom.test.signature_ops import SIGNATURES

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )
    from tensorloom.framework.registry.shape_inference import InferenceContext

# Op: its inputs, outputs and attrs. They have no kernels.
_SIGNATURES: dict[str, tuple[list[str], list[str], list[str]]] = {
    "A": ([], ["out: float"], []),
    "B": ([], ["out: float"], []),
    "CopyOp": (["a: T"], ["b: T"], ["T: type"]),
    "DefaultAttrs": (
        [],
        [],
        [
            "string_val: string = 'abc'",
            "string_list_val: list(string) = ['abc', '']",
            "int_val: int = 123",
            "int_list_val: list(int) = [1, 2, 3]",
            "float_val: float = 10.0",
            "float_list_val: list(float) = [10.0]",
            "bool_val: bool = true",
            "bool_list_val: list(bool) = [true, false]",
            "type_val: type = DT_INT32",
            "type_list_val: list(type) = [DT_INT32, DT_FLOAT]",
            "shape_val: shape = [2, 1]",
            "shape_list_val: list(shape) = [[], [1]]",
            "tensor_val: tensor = int32(1)",
            "tensor_list_val: list(tensor) = [int32(1)]",
        ],
    ),
    "FiveFloatOutputs": ([], [f"{name}: float" for name in "abcde"], []),
    "FloatInput": (["a: float"], [], []),
    "FloatOutput": ([], ["a: float"], []),
    "FloatOutputStringOutput": ([], ["a: float", "b: string"], []),
    "Foo1": (["a: float", "b: int32", "c: int32"], ["d: float", "e: int32"], []),
    "Foo2": (["a: float", "b: string", "c: string"], ["d: float", "e: int32"], []),
    "Foo3": (["a: float", "b: string", "c: float"], ["d: float", "e: int32"], []),
    "FuncAttr": ([], [], ["f: func"]),
    "FuncListAttr": ([], [], ["f: list(func)"]),
    "Int64Output": ([], ["out: int64"], []),
    "IntAttr": ([], ["out: int64"], ["foo: int = 1"]),
    "IntInput": (["a: int32"], [], []),
    "IntInputFloatInput": (["a: int32", "b: float"], [], []),
    "IntInputIntOutput": (["a: int32"], ["b: int32"], []),
    "IntOutput": ([], ["a: int32"], []),
    "IntOutputFloatOutput": ([], ["a: int32", "b: float"], []),
    "ListInput": (["a: N * T"], [], ["N: int >= 1", "T: type"]),
    "ListOutput": ([], ["a: T"], ["T: list(type) >= 1"]),
    "None": ([], [], []),
    "OpWithDefaultAttr": ([], ["a: int32"], ["default_float: float = 123.0"]),
    "OpWithFutureDefaultAttr": ([], [], []),
    "RefInputFloatInput": (["a: Ref(float)", "b: float"], [], []),
    "RefInputFloatInputIntOutput": (["a: Ref(float)", "b: float"], ["c: int32"], []),
    "RefInputIntInput": (["a: Ref(int32)", "b: int32"], [], []),
    "RefOutput": ([], ["a: Ref(int32)"], []),
    "RefOutputFloatOutput": ([], ["a: Ref(float)", "b: float"], []),
    "StringListAttr": ([], [], ["a: list(string)", "b: string"]),
    "TestStringOutput": (["input: float"], ["output1: float", "output2: string"], []),
    "TwoFloatInputs": (["a: float", "b: float"], [], []),
    "TwoFloatInputsFloatOutput": (["a: float", "b: float"], ["c: float"], []),
    "TwoFloatInputsIntOutput": (["a: float", "b: float"], ["c: int32"], []),
    "TwoFloatOutputs": ([], ["a: float", "b: float"], []),
    "TwoIntInputs": (["a: int32", "b: int32"], [], []),
    "TwoIntOutputs": ([], ["a: int32", "b: int32"], []),
    "Unary": (["a: T"], ["b: T"], ["T: type"]),
}


def _register() -> list[str]:
    """Registers them all; their names."""
    register = op_registry.register_op
    every = {**_SIGNATURES, **SIGNATURES}
    for name, (inputs, outputs, attrs) in every.items():
        doc = "An op of tests, without a kernel."
        shape = unknown_shapes if outputs else no_outputs
        register(
            name, inputs=inputs, outputs=outputs, attrs=attrs, shape_fn=shape, doc=doc
        )
    register(
        "KernelLabel",
        outputs=["result: string"],
        shape_fn=scalar_shape,
        doc="Says which kernel was chosen.",
    )
    register(
        "GraphDefVersion",
        outputs=["version: int32"],
        shape_fn=scalar_shape,
        stateful=True,
        doc="The version of graphs that this package makes.",
    )
    register(
        "RequiresOlderGraphVersion",
        outputs=["version: int32"],
        shape_fn=_older_version_shape,
        stateful=True,
        doc="An op that graphs of one version ago alone have.",
    )
    register(
        "Old", shape_fn=no_outputs, deprecated=(8, "For reasons"), doc="A past op."
    )
    register(
        "StubResourceHandleOp",
        outputs=["resource: resource"],
        attrs=["container: string = ''", "shared_name: string = ''"],
        shape_fn=scalar_shape,
        stateful=True,
        doc="A handle of a resource that holds nothing.",
    )
    register(
        "ResourceInitializedOp",
        inputs=["resource: resource"],
        outputs=["initialized: bool"],
        shape_fn=scalar_shape,
        stateful=True,
        doc="Whether the resource was made.",
    )
    for name in ("ResourceCreateOp", "ResourceUsingOp"):
        register(
            name,
            inputs=["resource: resource"],
            shape_fn=no_outputs,
            stateful=True,
            doc="Makes the resource, or fails unless it was made.",
        )
    register(
        "TestAttr",
        outputs=["out: T"],
        attrs=["T: {float, double}"],
        shape_fn=unknown_shapes,
        doc="100.",
    )
    register(
        "DevicePlacementOp",
        outputs=["device: string"],
        shape_fn=scalar_shape,
        stateful=True,
        doc="The device where it runs.",
    )
    others = ["KernelLabel", "GraphDefVersion", "RequiresOlderGraphVersion", "Old"]
    others += ["StubResourceHandleOp", "ResourceInitializedOp", "ResourceCreateOp"]
    others += ["ResourceUsingOp", "TestAttr", "DevicePlacementOp"]
    return [*every, *others]


def _older_version_shape(c: InferenceContext) -> Any:
    from tensorloom.framework.graph.default_graph import get_default_graph

    if get_default_graph()._producer != GRAPH_DEF_VERSION - 1:
        raise ValueError("Wrong graph version for shape")
    return scalar_shape(c)


_NAMES = _register()
_OPS = {function_name(op): op for op in _NAMES}


class OpDefLibrary:
    """Adds operations by the names of their ops, in TensorFlow's form."""

    @staticmethod
    def apply_op(op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """See `op_def_library.apply_op`."""
        return apply_op(op_type_name, name, **keywords)


_op_def_lib: Final = OpDefLibrary()


def __getattr__(name: str) -> Any:
    op = _OPS.get(name) or (name if name in _NAMES else None)
    if op is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = op_function(op)
    setattr(sys.modules[__name__], name, function)
    return function


def __dir__() -> list[str]:
    return sorted([*_OPS, *_NAMES])


class _Stub(Resource):
    """A handle, with what it leads to."""

    made = False


@host_kernel("KernelLabel")
def _kernel_label(c: OpKernelConstruction) -> Compute:
    """The label that the node's `_kernel` attr asks for."""
    label = c.get("_kernel", b"") or b"default"
    return lambda: b"My label is: " + label


@host_kernel("GraphDefVersion")
def _graph_def_version(c: OpKernelConstruction) -> Compute:
    """The version of graphs."""
    return lambda: np.int32(GRAPH_DEF_VERSION)


@host_kernel("Old")
def _old(c: OpKernelConstruction) -> Compute:
    """Does nothing."""
    return lambda: None


@host_kernel("TestAttr")
def _attr_of_test(c: OpKernelConstruction) -> Compute:
    """100 of the dtype asked for."""
    value = c["T"].as_numpy_dtype(100)
    return lambda: value


@host_kernel("DevicePlacementOp", context=True)
def _device_placement(c: OpKernelConstruction) -> Compute:
    """The name of the device."""

    def compute(context: OpKernelContext) -> bytes:
        return context.device.encode()

    return compute


@host_kernel("StubResourceHandleOp")
def _stub_resource_handle(c: OpKernelConstruction) -> Compute:
    """The handle, one for each name."""
    assert c.resources is not None
    name = (c["shared_name"] or b"").decode() or c.node_name
    container = (c["container"] or b"").decode() or DEFAULT_CONTAINER
    held = c.resources.lookup_or_create(
        container, name, _Stub, lambda: _Stub(container, name)
    )
    return lambda: held


@host_kernel("ResourceInitializedOp")
def _resource_initialized(c: OpKernelConstruction) -> Compute:
    """Whether it was made."""
    return lambda handle: np.bool_(handle.made)


@host_kernel("ResourceCreateOp")
def _resource_create(c: OpKernelConstruction) -> Compute:
    """Makes it; once."""

    def compute(handle: _Stub) -> None:
        if handle.made:
            raise errors.AlreadyExistsError(
                None, None, f"Resource {handle.container}/{handle.name} exists already"
            )
        handle.made = True

    return compute


@host_kernel("ResourceUsingOp")
def _resource_using(c: OpKernelConstruction) -> Compute:
    """Fails where it was not made."""

    def compute(handle: _Stub) -> None:
        if not handle.made:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {handle.container}/{handle.name} does not exist",
            )

    return compute
