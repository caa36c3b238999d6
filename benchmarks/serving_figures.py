"""Figures of model servers that are ratios of our own: python -m ... NAME."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy as np

from benchmarks import served_models, stream_messages
from benchmarks.clusters import free_ports
from benchmarks.workloads.serving import mlp

MODELS = 200
LAYERS = 125  # of 4 MB each


def reload_p99_ratio():
    """p99 of a small model while a large one beside it is replaced, over that without.

    The large one has a process of its own.
    """
    import tensorloom as tf

    def large(x):
        for layer in range(LAYERS):
            w = tf.get_variable(f"w{layer}", [1000, 1000])
            x = tf.nn.relu(tf.matmul(x, w))
        return x

    folder = tempfile.mkdtemp()
    try:
        served_models.export(tf, os.path.join(folder, "m"), mlp(tf), [784])
        served_models.export(tf, os.path.join(folder, "large"), large, [1000])
        with _server(folder, ["m", "large"], ["--model_processes=large"]) as port:
            request = _request()
            clients = served_models.RestClients(port, request, 1)
            clients.run(200)
            quiet = _latencies(clients, time.monotonic() + 10.0)
            versions = os.path.join(folder, "large")
            os.symlink(os.path.join(versions, "1"), os.path.join(versions, "2"))
            busy = []
            while not _is_there(port, 2):
                busy += _latencies(clients, time.monotonic() + 1.0)
            clients.close()
        return float(np.percentile(busy, 99) / np.percentile(quiet, 99))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_there(port, version):
    """Whether that version of the large model takes requests."""
    url = f"http://127.0.0.1:{port}/v1/models/large"
    status = json.loads(urllib.request.urlopen(url).read())
    return any(
        entry["version"] == str(version) and entry["state"] == "AVAILABLE"
        for entry in status["model_version_status"]
    )


def _request():

    row = served_models.digits(1, 784).tolist()
    return served_models.http_request(json.dumps({"inputs": row}).encode())


def _latencies(clients, end):
    found = []
    while time.monotonic() < end:
        start = time.perf_counter()
        clients.run(1)
        found.append(time.perf_counter() - start)
    return found


def memory_ratio():
    """Resident memory that models add to a server, over the sum of their variables."""
    import tensorloom as tf

    def build(x):
        w = tf.get_variable("w", [1000, 1000])
        return tf.matmul(x, w)

    folder = tempfile.mkdtemp()
    try:
        names = [f"m{number}" for number in range(MODELS)]
        served_models.export(tf, os.path.join(folder, "m0"), build, [1000])
        for name in names[1:]:
            shutil.copytree(os.path.join(folder, "m0"), os.path.join(folder, name))
        with _server(folder, names[:1]) as port:
            one = _resident(port)
        with _server(folder, names) as port:
            all_of_them = _resident(port)
        return (all_of_them - one) / ((MODELS - 1) * 4e6)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _resident(port):
    url = f"http://127.0.0.1:{port}/monitoring/prometheus/metrics"
    page = urllib.request.urlopen(url).read().decode()
    for line in page.splitlines():
        if line.startswith("tensorloom_serving_resident_bytes "):
            return float(line.split()[1])
    raise RuntimeError("the server does not tell its memory")


class _server:
    """A server of several models, which ends with its `with` block."""

    def __init__(self, folder, names, flags=()):
        (self._port,) = free_ports(1)
        config = os.path.join(folder, "models.config")
        monitoring = os.path.join(folder, "monitoring.config")
        with open(config, "w") as file:
            entries = "".join(
                f'config {{ name: "{name}" base_path: "{folder}/{name}" '
                'model_platform: "tensorflow" }'
                for name in names
            )
            file.write(f"model_config_list {{ {entries} }}")
        with open(monitoring, "w") as file:
            file.write("prometheus_config { enable: true }")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tensorloom", "serve", "--port=0"),
                *("--model_config_file=" + config, "--num_load_threads=2"),
                *("--monitoring_config_file=" + monitoring, *flags),
                f"--rest_api_port={self._port}",
            ],
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self):
        served_models.wait(self._process, self._port)
        return self._port

    def __exit__(self, *error):
        self._process.terminate()
        self._process.wait()


FIGURES = {
    "reload": reload_p99_ratio,
    "memory": memory_ratio,
    "stream": stream_messages.exactly_once_ratio,
}

if __name__ == "__main__":
    print(FIGURES[sys.argv[1]]())
