"""Weights as float16 or bfloat16; what is computed stays float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy import optimizing
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.protos.node_def_pb2 import NodeDef
from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel
    from tensorloom.framework.types.dtypes import DType

# Smaller constants stay: they save nothing, and may have to be exact.
_FEWEST: Final = 64
_LARGEST_HALF: Final = float(np.finfo(np.float16).max)


def short_floats(model: FrozenModel, dtype: DType) -> FrozenModel:
    """A model whose large constants are kept in half the bits.

        Const float32  ->  Cast(Const float16)

    Constants that float16 cannot hold stay as they are.
    """
    model = optimizing.transformed(model)
    made: list[NodeDef] = []
    for node in model.graph_def.node:
        if node.op == "Const" and nodes.is_float(node):
            values = nodes.value_of(node)
            fits = (
                dtype != dtypes.float16 or np.abs(values).max(initial=0) < _LARGEST_HALF
            )
            if values.size >= _FEWEST and fits:
                short = _constant(f"{node.name}/{dtype.name}", values, dtype)
                cast = nodes.node(
                    "Cast", node.name, [short.name], SrcT=dtype, DstT=dtypes.float32
                )
                made += [short, cast]
                continue
        made.append(node)
    return model.with_graph(nodes.with_nodes(model.graph_def, made))


def _constant(name: str, values: Any, dtype: DType) -> NodeDef:
    made = NodeDef(op="Const", name=name)
    made.attr["dtype"].CopyFrom(attr_value.to_proto(dtype))
    tensor = made.attr["value"].tensor
    tensor.dtype = made.attr["dtype"].type
    for size in values.shape:
        tensor.tensor_shape.dim.add().size = size
    # Written as numbers they would take three bytes each.
    tensor.tensor_content = values.astype(dtype.as_numpy_dtype).tobytes()
    return made
