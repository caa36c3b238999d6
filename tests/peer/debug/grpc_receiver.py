"""TensorFlow's debug server: python grpc_receiver.py

It prints its port, and what it heard.
It ends when its input does.
"""

import json
import socket
import sys


def main():
    from tensorflow.python.debug.lib import debug_data, grpc_debug_server

    heard = {"values": [], "graphs": [], "runs": []}

    class Streams(grpc_debug_server.EventListenerBaseStreamHandler):
        def on_core_metadata_event(self, event):
            heard["runs"].append(json.loads(event.log_message.message)["input_names"])

        def on_graph_def(self, graph_def, device_name, wall_time):
            heard["graphs"].append(len(graph_def.node))

        def on_value_event(self, event):
            value = debug_data.load_tensor_from_event(event)
            name = event.summary.value[0].node_name
            heard["values"].append([name, float(value.sum())])

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = grpc_debug_server.EventListenerBaseServicer(port, Streams)
    server.run_server(blocking=False)
    server.request_watch("y", 0, "DebugIdentity")
    print(port, flush=True)
    sys.stdin.read()
    server.stop_server(0).wait()
    print(json.dumps(heard))


if __name__ == "__main__":
    main()
