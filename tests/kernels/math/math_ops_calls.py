"""Calling one kernel outside of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import tensorloom.kernels
import tensorloom.kernels.host
from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_kernel import OpKernelConstruction, find_kernels
from tensorloom.framework.registry.package_modules import import_all
from tensorloom.framework.types.dtypes import as_dtype
from tensorloom.framework.types.tensor_shape import TensorShape

import_all(tensorloom.kernels)
import_all(tensorloom.kernels.host)


def construction(op: str, inputs: list[Any], **attrs: Any) -> OpKernelConstruction:
    """A node of the op for inputs like these, of unknown static shapes."""
    op_def = op_registry.find(op)
    assert op_def is not None, op
    types: dict[str, Any] = {}
    for arg, value in zip(op_def.inputs, inputs, strict=False):
        if arg.type_attr and arg.type_attr not in types:
            types[arg.type_attr] = as_dtype(np.asarray(value).dtype)
        if arg.number_attr:
            types[arg.number_attr] = len(inputs)
    attrs = {
        k: as_dtype(v) if op_def.attrs[k].type == "type" else v
        for k, v in attrs.items()
    }
    filled = op_def.fill_defaults({**types, **attrs})
    node = Node(
        name="node",
        op=op,
        inputs=tuple((f"input{i}", 0) for i in range(len(inputs))),
        control_inputs=(),
        device="",
        attrs=filled,
        output_types=tuple(op_def.output_types(filled)),
    )
    return OpKernelConstruction(
        node=node,
        device="/device:CPU:0",
        device_type="CPU",
        input_types=tuple(op_def.input_types(filled)),
        input_shapes=(TensorShape.of(None),) * len(inputs),
        torch_device=torch.device("cpu"),
    )


def call_host(op: str, *inputs: Any, **attrs: Any) -> Any:
    """What the host kernel gives for NumPy inputs."""
    c = construction(op, list(inputs), **attrs)
    _, definition = find_kernels(op, c.attrs, "CPU")
    assert definition is not None, f"{op} has no host kernel"
    with np.errstate(all="ignore"):
        return definition.factory(c)(*inputs)


def call_torch(op: str, *inputs: Any, **attrs: Any) -> Any:
    """What the torch kernel gives for the same inputs, as an array."""
    c = construction(op, list(inputs), **attrs)
    definition, _ = find_kernels(op, c.attrs, "CPU")
    assert definition is not None, f"{op} has no torch kernel"
    op_def = op_registry.find(op)
    assert op_def is not None
    names = [a.name for a in op_def.inputs]
    names += names[-1:] * (len(inputs) - len(names))
    values = [
        value if name in definition.host_inputs else to_torch(value)
        for name, value in zip(names, inputs, strict=True)
    ]
    return to_numpy(definition.factory(c)(*values))


def call_inline(op: str, *inputs: Any, **attrs: Any) -> Any:
    """What the inline expression of the host kernel gives for scalars, or None."""
    c = construction(op, list(inputs), **attrs)
    _, definition = find_kernels(op, c.attrs, "CPU")
    assert definition is not None
    if not definition.inline:
        return None
    names = [f"v{i}" for i in range(len(inputs))]
    scope = dict(zip(names, inputs, strict=True)) | {"np": np}
    with np.errstate(all="ignore"):
        return eval(definition.inline.format(*names), scope)


def has_torch(op: str, *inputs: Any, **attrs: Any) -> bool:
    """Whether a torch kernel takes these inputs."""
    c = construction(op, list(inputs), **attrs)
    return find_kernels(op, c.attrs, "CPU")[0] is not None


def to_torch(value: Any) -> torch.Tensor:
    """A torch tensor that shares the array's memory where it can."""
    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def to_numpy(value: torch.Tensor) -> np.ndarray[Any, Any]:
    """The array of a torch tensor."""
    if value.dtype == torch.bfloat16:
        bits = value.contiguous().view(torch.int16).numpy()
        return bits.view(as_dtype("bfloat16").np_dtype)
    return value.numpy()
