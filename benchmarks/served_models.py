"""Model servers for workloads, and one client for all of them. Python 3.7."""

import asyncio
import contextlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.clusters import free_ports, system_of

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "serving_peer.py")
METHOD = "/tensorflow.serving.PredictionService/Predict"
BATCHING = "max_batch_size { value: 64 } batch_timeout_micros { value: 0 }"


def export(tf, folder, build, shape):
    """Writes a model of one input and one output; `build(x)` is the output."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, *shape], "x")
        y = build(x)
        session.run(tf.global_variables_initializer())
        signature = tf.saved_model.build_signature_def(
            {"x": tf.saved_model.build_tensor_info(x)},
            {"y": tf.saved_model.build_tensor_info(y)},
            "tensorflow/serving/predict",
        )
        builder = tf.saved_model.Builder(os.path.join(folder, "1"))
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}
        )
        builder.save()


@contextlib.contextmanager
def server(tf, build, shape, batches=False):
    """(gRPC port, REST port) of a server of a model, in a process of its own."""
    folder = tempfile.mkdtemp()
    process = None
    try:
        export(tf, folder, build, shape)
        ports = free_ports(2)
        process = subprocess.Popen(
            _command(system_of(tf), folder, ports, batches),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(system_of(tf)),
        )
        wait(process, ports[1])
        yield ports
    finally:
        if process is not None:
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _command(system, folder, ports, batches):
    if system != "tensorloom":
        where = [os.path.join(folder, "1"), str(ports[0]), str(ports[1])]
        return [sys.executable, PEER, *where, str(int(batches))]
    command = [
        *(sys.executable, "-m", "tensorloom", "serve"),
        *("--model_name=m", f"--model_base_path={folder}"),
        *(f"--port={ports[0]}", f"--rest_api_port={ports[1]}"),
    ]
    if batches:
        file = os.path.join(folder, "batching.txt")
        with open(file, "w") as text:
            text.write(BATCHING)
        command += ["--enable_batching", f"--batching_parameters_file={file}"]
    return command


def _environment(system):
    """The peer's has TensorFlow Serving's messages, and uvicorn, in folders."""
    found = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    if system != "tensorloom":
        prefix = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))
        folders = ("serving-clients", "serving-front")
        found["PYTHONPATH"] = os.pathsep.join(
            os.path.join(prefix, folder) for folder in folders
        )
    return found


def wait(process, port):
    """Waits until the server is ready."""
    for _ in range(1200):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10.0)
            connection.request("GET", "/v1/health/ready")
            is_ready = connection.getresponse().status == 200
            connection.close()
            if is_ready:
                return
        time.sleep(0.05)
    raise RuntimeError("the model server does not answer")


# --- REST ----------------------------------------------------------------------------


def http_request(body):
    """A POST of a predict call."""
    head = (
        "POST /v1/models/m:predict HTTP/1.1\r\nHost: m\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class RestClients:
    """Connections that each send one request after the other."""

    def __init__(self, port, request, count):
        self._loop = asyncio.new_event_loop()
        self._request = request
        self._streams = [
            self._loop.run_until_complete(
                asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            )
            for _ in range(count)
        ]

    def run(self, requests):
        """Sends so many requests on each connection; all are answered."""

        async def all_of_them():
            await asyncio.gather(*(self._send(s, requests) for s in self._streams))

        self._loop.run_until_complete(all_of_them())

    async def _send(self, stream, requests):
        reader, writer = stream
        for _ in range(requests):
            writer.write(self._request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            await reader.readexactly(size)

    def close(self):
        for _, writer in self._streams:
            writer.close()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


# --- gRPC ----------------------------------------------------------------------------


def _field(number, content):
    size, encoded = len(content), []
    while size > 127:
        encoded.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2]) + bytes([*encoded, size]) + content


def predict_request(tf, x):
    """A PredictRequest, as bytes: the systems' clients are not measured."""
    tensor = tf.make_tensor_proto(x).SerializeToString()
    return _field(1, _field(1, b"m")) + _field(2, _field(1, b"x") + _field(2, tensor))


@contextlib.contextmanager
def grpc_call(port, request):
    """A function that makes a call."""
    import grpc

    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        method = channel.unary_unary(METHOD)
        yield lambda: method(request, timeout=60)


def digits(*shape):
    """An input that is the same in each system."""
    count = int(np.prod(shape))
    return (np.arange(count) % 17 / 16).astype(np.float32).reshape(shape)
