"""Which ops may be computed in float16: TensorFlow 1.15's four lists.

`ALLOWED` always are: that is what the speed comes from. `INFERRED` are between such,
but not after a `DENIED` one, whose results have too wide a range. `CLEAR` ones change
no number, and are computed in what their neighbours are.
"""

from __future__ import annotations

from typing import Final


def _ops(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALLOWED: Final = _ops("""
    BatchMatMul BatchMatMulV2 BlockLSTM BlockLSTMGrad Conv2D Conv2DBackpropFilter
    Conv2DBackpropInput Conv3D Conv3DBackpropFilter Conv3DBackpropFilterV2
    Conv3DBackpropInput Conv3DBackpropInputV2 CudnnRNN CudnnRNNBackprop
    CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNV2 CudnnRNNV3 GRUBlockCell
    GRUBlockCellGrad LSTMBlockCell LSTMBlockCellGrad MatMul
""")
INFERRED: Final = _ops("""
    Add AddN AddV2 AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BiasAdd BiasAddGrad
    BiasAddV1 Elu EluGrad Erf Erfc FloorDiv FusedBatchNormGradV2 FusedBatchNormGradV3
    FusedBatchNormV2 FusedBatchNormV3 Inv LeakyRelu LeakyReluGrad Mul Prod RealDiv
    Reciprocal Sigmoid SigmoidGrad Softplus SoftplusGrad Sqrt Sub Tanh TanhGrad
""")
DENIED: Final = _ops("""
    Exp Expm1 L2Loss Log Log1p LogSoftmax Mean Pow SaveV2 Softmax
    SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits Sum
""")
CLEAR: Final = _ops("""
    Abs ArgMax ArgMin BatchToSpace BatchToSpaceND BroadcastTo Ceil CheckNumerics
    ClipByValue Concat ConcatV2 DepthToSpace DynamicPartition DynamicStitch EnsureShape
    Equal ExpandDims Fill Floor Gather GatherNd GatherV2 Greater GreaterEqual Identity
    IdentityN IsFinite IsInf IsNan Less LessEqual Max MaxPool MaxPool3D MaxPool3DGrad
    MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradV2
    MaxPoolV2 Maximum Min Minimum MirrorPad MirrorPadGrad Neg NotEqual OneHot OnesLike
    Pack Pad PadV2 PreventGradient Rank Relu Relu6 Relu6Grad ReluGrad Reshape
    ResizeNearestNeighbor ResizeNearestNeighborGrad Reverse ReverseSequence ReverseV2
    Round Select Shape ShapeN Sign Size Slice Snapshot SpaceToBatch SpaceToBatchND
    SpaceToDepth Split SplitV Squeeze StopGradient StridedSlice StridedSliceGrad Tile
    TopK TopKV2 Transpose Where ZerosLike
""")
