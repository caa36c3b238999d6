"""Choosing boxes that do not overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tensorloom.deploy.onnx.registry import builder
from tensorloom.deploy.program import Unexportable
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site


@builder("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def _suppression(site: Site) -> str:
    if site.input_dtype(0) != dtypes.float32:
        raise Unexportable("ONNX has it of float32 alone")
    boxes = site.op("Unsqueeze", site[0], site.ints(0))
    scores = site.op("Unsqueeze", site[1], site.ints(0, 1))
    most = site.op("Reshape", site.int64(2), site.ints(1))
    if site.node.op == "NonMaxSuppression":
        overlap = site.value([site.attr("iou_threshold")], np.float32)
    else:
        overlap = site.op("Reshape", site[3], site.ints(1))
    inputs = [boxes, scores, most, overlap]
    if site.node.op == "NonMaxSuppressionV3":
        inputs.append(site.op("Reshape", site[4], site.ints(1)))
    # Rows of batch, class and box.
    chosen = site.op("NonMaxSuppression", *inputs)
    places = site.op("Gather", chosen, site.value(2, np.int64), axis=1)
    return site.cast(places, dtypes.int32)
