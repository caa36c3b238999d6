"""`tensorflow.tools.graph_transforms`: rewrites of frozen graphs, asked for by name."""

from tensorloom.tools.graph_transforms.transform_graph import TransformGraph

__all__ = ["TransformGraph"]
