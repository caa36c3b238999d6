"""Which nodes may be compiled together: pure arithmetic over dense tensors of numbers.

What an op here computes, and whether it fails, depends on no element of a tensor that
the compiler does not know: integers are not divided, places are not looked up. Sizes,
axes and places must be constants of the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.framework.graph.graph_ir import Node

#: What `experimental_jit_scope` and `xla.compile` say of a node.
COMPILE: Final = "_XlaCompile"
SCOPE: Final = "_XlaScope"
COMPUTATION: Final = "_xla_compile_id"
MARKS: Final = (COMPILE, SCOPE, COMPUTATION)

# Inputs that must be constants, by op; negative ones count from the end.
_CONSTANT_INPUTS: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(("Sum", "Mean", "Max", "Min", "Prod", "All", "Any"), (1,)),
    **dict.fromkeys(("Reshape", "ExpandDims", "Transpose", "Tile", "Pad"), (1,)),
    "ConcatV2": (-1,),
    "Slice": (1, 2),
    "StridedSlice": (1, 2, 3),
    "Split": (0,),
}

_FLOATS_ALONE: Final = frozenset({"Div", "RealDiv", "Pow", "Reciprocal", "Inv"})

#: Ops that are arithmetic: worth compiling.
ARITHMETIC: Final = frozenset(
    {
        *("Neg", "Abs", "Exp", "Log", "Log1p", "Expm1", "Sqrt", "Rsqrt", "Square"),
        *("Reciprocal", "Inv", "Sign", "Floor", "Ceil", "Rint", "Round", "Sin", "Cos"),
        *("Tan", "Tanh", "Sigmoid", "Erf", "Erfc", "Cast", "IsNan", "IsInf"),
        *("IsFinite", "LogicalNot", "Relu", "Relu6", "Elu", "Selu", "LeakyRelu"),
        *("Softplus", "Softsign", "ReluGrad", "Relu6Grad", "EluGrad", "TanhGrad"),
        *("SigmoidGrad", "SqrtGrad", "RsqrtGrad", "SoftplusGrad", "SoftsignGrad"),
        *("Add", "AddV2", "AddN", "Sub", "Mul", "Div", "RealDiv", "Pow", "Maximum"),
        *("Minimum", "SquaredDifference", "Equal", "NotEqual", "Less", "LessEqual"),
        *("Greater", "GreaterEqual", "LogicalAnd", "LogicalOr", "Select", "SelectV2"),
        *("BiasAdd", "BiasAddGrad", "Softmax", "LogSoftmax", "L2Loss"),
        *("MatMul", "BatchMatMul", "BatchMatMulV2", "_FusedMatMul", "_SumOfMatMuls"),
        *("Conv2D", "_FusedConv2D", "DepthwiseConv2dNative", "AvgPool", "MaxPool"),
        *("Sum", "Mean", "Max", "Min", "Prod", "All", "Any"),
        *("_SigmoidCrossEntropy", "_SigmoidCrossEntropyGrad", "_MeanGrad"),
    }
)
#: Ops that only hand elements on: taken in, not worth a cluster of their own.
PLUMBING: Final = frozenset(
    {
        *("Identity", "StopGradient", "PreventGradient", "Reshape", "ExpandDims"),
        *("Squeeze", "Transpose", "ConcatV2", "Pack", "Unpack", "Slice", "Split"),
        *("StridedSlice", "Tile", "Pad", "ZerosLike", "OnesLike"),
    }
)
_TYPES: Final = frozenset(
    {
        *(dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16),
        *(dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.int8, dtypes.bool),
    }
)


def is_arithmetic(node: Node) -> bool:
    """Whether compiling the node can win anything."""
    return node.op in ARITHMETIC


def wish_of(node: Node, compiles_all: bool) -> bytes | None:
    """Which nodes a node is to be compiled with; None: it is not to be compiled.

    Args:
      compiles_all: whether what is not marked is to be compiled, too.
    """
    attrs = node.attrs
    computation = attrs.get(COMPUTATION)
    if computation is not None:
        return b"computation " + _bytes(computation)
    if attrs.get(COMPILE):
        return b"scope " + _bytes(attrs.get(SCOPE, b""))
    if COMPILE in attrs or not compiles_all:
        return None
    return b""


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def is_compilable(node: Node, nodes: Mapping[str, Node]) -> bool:
    """Whether the op of a node, with its dtypes and constants, can be compiled."""
    if node.op not in ARITHMETIC and node.op not in PLUMBING:
        return False
    types = [nodes[name].output_types[index] for name, index in node.inputs]
    if not _TYPES.issuperset([*types, *node.output_types]):
        return False  # a reference is none of them, either
    if node.op in _FLOATS_ALONE and not node.output_types[0].is_floating:
        return False
    if node.op == "MaxPool" and not _is_plain_pool(node):
        return False
    return all(
        nodes[node.inputs[index][0]].op == "Const"
        for index in _CONSTANT_INPUTS.get(node.op, ())
    )


def _is_plain_pool(node: Node) -> bool:
    """Whether a max pool is of images of floats, and nobody asks where the maxima are.

    Its gradient would have to find them again.
    """
    attrs = node.attrs
    depth = 1 if attrs["data_format"] == b"NCHW" else 3
    is_flat = attrs["data_format"] in (b"NHWC", b"NCHW") and attrs["ksize"][depth] == 1
    return (
        is_flat and bool(attrs.get("_values_only")) and node.output_types[0].is_floating
    )
