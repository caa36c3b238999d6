"""The transform that puts ops in eight bits in the place of those of float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.quantized_neighbours import (
    fake_quants_as_requantize,
    hoist_fake_quants,
    merge_adjacent_requantizes,
    remove_redundant_quantizations,
)
from tensorloom.tools.graph_transforms.request import invalid
from tensorloom.tools.graph_transforms.structure import merge_duplicate_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

_QUINT8: Final = dtypes.quint8
_QINT32: Final = dtypes.qint32
_FLOAT: Final = dtypes.float32


@dataclass(frozen=True)
class _Form:
    """How an op looks in eight bits."""

    #: Attrs that it takes over.
    attrs: tuple[str, ...] = ()
    #: Attrs that hold dtypes of its inputs.
    types: tuple[str, ...] = ("T",)
    #: The attr that holds the dtype of 32 bits of its result; "" if it has eight.
    wide: str = ""
    #: Inputs, such as shapes, that stay as they are.
    plain: tuple[int, ...] = ()
    #: Whether all minima come before all maxima.
    separate: bool = False


_PAIR: Final = ("T1", "T2")
_POOL: Final = _Form(("ksize", "strides", "padding"))
_RELU: Final = _Form(types=("Tinput",))
_FORMS: Final = {
    "Add": _Form(types=_PAIR, wide="Toutput"),
    "AvgPool": _POOL,
    "BiasAdd": _Form(types=_PAIR, wide="out_type"),
    "Concat": _Form(("N",), plain=(0,), separate=True),
    "Conv2D": _Form(("strides", "padding"), ("Tinput", "Tfilter"), "out_type"),
    "MatMul": _Form(("transpose_a", "transpose_b"), _PAIR, "Toutput"),
    "MaxPool": _POOL,
    "Mul": _Form(types=_PAIR, wide="Toutput"),
    "Relu": _RELU,
    "ResizeBilinear": _Form(("align_corners",), plain=(1,)),
    "Relu6": _RELU,
    "Reshape": _Form(plain=(1,)),
}


def quantize_nodes(graph: Any, request: Request) -> Any:
    """Ops that have a form in eight bits get it.

        Relu(x)  ->  Dequantize(QuantizedRelu(QuantizeV2(x, Min(x), Max(x))))

    Between two such ops the pair of Dequantize and QuantizeV2 goes. FakeQuant nodes
    with constant ranges become the ranges of the ops before them.

    Parameters: `ignore_op`, ops that stay; `input_min` and `input_max`, the range of
    placeholders, which are then fed in eight bits; `fallback_min` and `fallback_max`,
    the range of results of 32 bits, in place of a measured one.

    Raises:
      InvalidArgumentError: one end of a range is not given.
    """
    ignored = request.parameters.get("ignore_op", [])
    forms = {op: form for op, form in _FORMS.items() if op not in ignored}
    inputs, fallback = _range(request, "input"), _range(request, "fallback")
    if inputs is not None:
        graph = _with_quantized_placeholders(graph, *inputs)
    graph = hoist_fake_quants(graph)
    graph = fake_quants_as_requantize(graph)
    made: list[NodeDef] = []
    for node in graph.node:
        form = forms.get(node.op)
        if form is None or not _is_float(node, form):
            made.append(node)
        else:
            made += _quantized(node, form, fallback)
    graph = merge_adjacent_requantizes(nodes.with_nodes(graph, made))
    graph = merge_duplicate_nodes(graph, request)
    return remove_redundant_quantizations(graph, request.outputs)


def _range(request: Request, what: str) -> tuple[float, float] | None:
    names = f"{what}_min", f"{what}_max"
    given = [name in request.parameters for name in names]
    if not any(given):
        return None
    if not all(given):
        raise invalid(f"You must pass both {' and '.join(names)} into quantize_nodes")
    return request.number(names[0], 0.0), request.number(names[1], 0.0)


def _with_quantized_placeholders(graph: Any, low: float, high: float) -> Any:
    """Placeholders are fed in eight bits; what reads them reads a Dequantize."""
    made: list[NodeDef] = []
    renamed: dict[str, str] = {}
    added: list[str] = []
    for node in graph.node:
        made.append(node)
        if node.op != "Placeholder":
            continue
        node.attr["dtype"].type = _QUINT8.as_datatype_enum
        prefix = f"{node.name}_eightbit"
        ends = [
            nodes.constant(f"{prefix}/min", np.float32(low)),
            nodes.constant(f"{prefix}/max", np.float32(high)),
        ]
        inputs = [node.name, *(end.name for end in ends)]
        dequantize = _dequantize(f"{prefix}/dequantize", inputs)
        made += [*ends, dequantize]
        renamed[node.name] = dequantize.name
        added.append(dequantize.name)
    return nodes.with_renamed_inputs(nodes.with_nodes(graph, made), renamed, added)


def _dequantize(name: str, inputs: list[str]) -> NodeDef:
    return nodes.node("Dequantize", name, inputs, T=_QUINT8, mode=b"MIN_FIRST")


def _is_float(node: NodeDef, form: _Form) -> bool:
    inputs, outputs = nodes.types_of(node)
    read = [dtype for at, dtype in enumerate(inputs) if at not in form.plain]
    return all(dtype == _FLOAT for dtype in (*read, *outputs))


def _quantized(
    node: NodeDef, form: _Form, fallback: tuple[float, float] | None
) -> Iterator[NodeDef]:
    """An op in eight bits between what converts to them and back."""
    quantized: list[str] = []
    data: list[str] = []
    for at, name in enumerate(node.input):
        if at in form.plain:
            data.append(name)
            continue
        *before, quantize = _quantize_input(f"{node.name}_eightbit", name)
        yield from (*before, quantize)
        quantized.append(quantize.name)
        data.append(f"{quantize.name}:0")
    if form.separate:
        ends = [f"{name}:{end}" for end in (1, 2) for name in quantized]
    else:
        ends = [f"{name}:{end}" for name in quantized for end in (1, 2)]
    types: dict[str, Any] = dict.fromkeys(form.types, _QUINT8)
    if form.wide:
        types[form.wide] = _QINT32
    main = nodes.node(
        f"Quantized{node.op}", f"{node.name}/eightbit", [*data, *ends], **types
    )
    nodes.copy_attrs(node, main, *form.attrs)
    yield main
    last = main.name
    if form.wide:
        narrow = list(_narrowed(main.name, fallback))
        yield from narrow
        last = narrow[-1].name
    yield _dequantize(node.name, [f"{last}:{output}" for output in range(3)])


def _quantize_input(prefix: str, name: str) -> list[NodeDef]:
    """The range of a tensor, measured, and the tensor in eight bits."""
    hat, inner, port = nodes.parts_of(name)
    unique = f"{prefix}/{'__hat__' if hat else ''}{inner}"
    if port:
        unique += f"__port__{port.removeprefix(':')}"
    wait = [f"^{inner}"]
    flat = nodes.constant(f"{unique}/reshape_dims", np.array([-1], np.int32))
    axes = nodes.constant(f"{unique}/reduction_dims", np.array([0], np.int32))
    for constant in (flat, axes):
        constant.input.extend(wait)
    reshape = nodes.node("Reshape", f"{unique}/reshape", [name, flat.name], T=_FLOAT)
    ends = [
        nodes.node(
            op,
            f"{unique}/{op.lower()}",
            [reshape.name, axes.name],
            T=_FLOAT,
            keep_dims=False,
        )
        for op in ("Min", "Max")
    ]
    quantize = nodes.node(
        "QuantizeV2",
        f"{unique}/quantize",
        [name, *(end.name for end in ends)],
        T=_QUINT8,
        mode=b"MIN_FIRST",
    )
    return [flat, axes, reshape, *ends, quantize]


def _narrowed(name: str, fallback: tuple[float, float] | None) -> Iterator[NodeDef]:
    """From 32 bits to eight, by a measured range or a given one."""
    wide = [f"{name}:{output}" for output in range(3)]
    if fallback is None:
        measured = f"{name}/requant_range"
        yield nodes.node("RequantizationRange", measured, wide, Tinput=_QINT32)
        ends = [f"{measured}:0", f"{measured}:1"]
    else:
        ends = [f"{name}/fallback_min", f"{name}/fallback_max"]
        for end, value in zip(ends, fallback, strict=True):
            yield nodes.constant(end, np.float32(value))
    yield nodes.node(
        "Requantize",
        f"{name}/requantize",
        [*wide, *ends],
        Tinput=_QINT32,
        out_type=_QUINT8,
    )
