"""Public names that are protobuf messages, loaded on first use."""

from __future__ import annotations

import importlib
from typing import Any, Final

# Public name -> (module of tensorloom.protos, message).
_MESSAGES: Final = {
    "AttrValue": ("attr_value_pb2", "AttrValue"),
    "ConfigProto": ("config_pb2", "ConfigProto"),
    "Event": ("event_pb2", "Event"),
    "GPUOptions": ("config_pb2", "GPUOptions"),
    "GraphDef": ("graph_pb2", "GraphDef"),
    "GraphOptions": ("config_pb2", "GraphOptions"),
    "HistogramProto": ("histogram_pb2", "HistogramProto"),
    "LogMessage": ("event_pb2", "LogMessage"),
    "MetaGraphDef": ("meta_graph_pb2", "MetaGraphDef"),
    "NameAttrList": ("attr_value_pb2", "NameAttrList"),
    "NodeDef": ("node_def_pb2", "NodeDef"),
    "OptimizerOptions": ("config_pb2", "OptimizerOptions"),
    "RunMetadata": ("config_pb2", "RunMetadata"),
    "RunOptions": ("config_pb2", "RunOptions"),
    "SessionLog": ("event_pb2", "SessionLog"),
    "Summary": ("summary_pb2", "Summary"),
    "SummaryMetadata": ("summary_pb2", "SummaryMetadata"),
    "TensorInfo": ("meta_graph_pb2", "TensorInfo"),
    "summary.Event": ("event_pb2", "Event"),
    "summary.SessionLog": ("event_pb2", "SessionLog"),
    "summary.Summary": ("summary_pb2", "Summary"),
    "summary.SummaryDescription": ("summary_pb2", "SummaryDescription"),
    "summary.TaggedRunMetadata": ("event_pb2", "TaggedRunMetadata"),
    "train.BytesList": ("feature_pb2", "BytesList"),
    "train.ClusterDef": ("cluster_pb2", "ClusterDef"),
    "train.Example": ("example_pb2", "Example"),
    "train.Feature": ("feature_pb2", "Feature"),
    "train.FeatureList": ("feature_pb2", "FeatureList"),
    "train.FeatureLists": ("feature_pb2", "FeatureLists"),
    "train.Features": ("feature_pb2", "Features"),
    "train.FloatList": ("feature_pb2", "FloatList"),
    "train.Int64List": ("feature_pb2", "Int64List"),
    "train.JobDef": ("cluster_pb2", "JobDef"),
    "train.SaverDef": ("saver_pb2", "SaverDef"),
    "train.SequenceExample": ("example_pb2", "SequenceExample"),
    "train.ServerDef": ("tensorflow_server_pb2", "ServerDef"),
}


def message_names() -> list[str]:
    """The public names that are messages."""
    return sorted(_MESSAGES)


def find(module: str, name: str) -> Any:
    """The message class of a public name.

    Raises:
      AttributeError: there is none of that name.
    """
    found = _MESSAGES.get(f"{module}.{name}" if module else name)
    if found is None:
        where = f"tensorloom.{module}" if module else "tensorloom"
        raise AttributeError(f"module '{where}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"tensorloom.protos.{found[0]}"), found[1])
