"""What runs on a Hexagon DSP: programs can import it; a call says what to do."""

from __future__ import annotations

from tensorloom.framework.refusals import export_refused

export_refused(
    "contrib.remote_fused_graph",
    {
        "remote_fused_graph_execute": "inputs, output_types, graph_def, "
        "graph_input_node_names, graph_output_node_names, executor_name, "
        "serialized_executor_parameters, "
        "default_graph_input_tensor_type_shapes=None, "
        "default_graph_output_tensor_type_shapes=None"
    },
    "tensorloom runs no graphs on Hexagon DSPs. Import the graph, and run it here.",
)
