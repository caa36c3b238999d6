"""Resolvers: TF_CONFIG, Slurm, Kubernetes, and unions of them."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.cluster.kubernetes_api import PodApi
from tensorloom.cluster.slurm import hosts_of

resolvers = tf.distribute.cluster_resolver


def test_tf_config(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {
        "cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]},
        "task": {"type": "worker", "index": "1"},
        "rpc_layer": "grpc",
        "environment": "cloud",
    }
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    resolver = resolvers.TFConfigClusterResolver()
    assert resolver.cluster_spec().as_dict() == config["cluster"]
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)
    assert resolver.master() == "grpc://c:1"
    assert resolver.master("ps", 0) == "grpc://a:1"
    assert resolver.environment is None  # as TensorFlow's: what was given, alone
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": config["cluster"]}))
    with pytest.raises(ValueError, match="No such job in cluster: None"):
        resolver.master()
    sparse = {"cluster": {"worker": {"7": "b:1", "9": "c:1"}}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(sparse))
    assert resolver.cluster_spec().as_dict() == {"worker": {7: "b:1", 9: "c:1"}}
    monkeypatch.delenv("TF_CONFIG")
    assert resolver.master() == ""
    assert resolver.task_type is None
    assert resolver.cluster_spec().as_dict() == {}


def test_simple_and_union() -> None:
    spec = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1"]})
    one = resolvers.SimpleClusterResolver(
        spec, "m:1", task_type="ps", task_id=0, rpc_layer="grpc"
    )
    assert one.master() == "grpc://m:1"
    assert one.master("worker", 0, "x") == "x://b:1"
    other = resolvers.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["d:1", "b:1"]})
    )
    union = resolvers.UnionResolver(one, other)
    assert union.cluster_spec().as_dict() == {
        "ps": ["a:1"],
        "worker": ["b:1", "d:1", "b:1"],
    }
    assert (union.task_type, union.task_id, union.rpc_layer) == ("ps", 0, "grpc")
    sparse = resolvers.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": {1: "d:1"}})
    )
    assert resolvers.UnionResolver(one, sparse).cluster_spec().as_dict() == {
        "ps": ["a:1"],
        "worker": ["b:1", "d:1"],
    }
    clash = resolvers.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": {0: "d:1"}})
    )
    with pytest.raises(KeyError):
        resolvers.UnionResolver(sparse, one, clash).cluster_spec()
    with pytest.raises(ValueError, match="At least one"):
        resolvers.UnionResolver()
    with pytest.raises(TypeError):
        resolvers.UnionResolver(1)


def test_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        "SLURM_PROCID": "3",
        "SLURM_NTASKS": "5",
        "SLURM_NTASKS_PER_NODE": "2",
        "SLURM_STEP_NODELIST": "n[1-2],m03",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    resolver = resolvers.SlurmClusterResolver({"worker": 4, "ps": 1}, gpus_per_node=2)
    assert resolver.cluster_spec().as_dict() == {
        "ps": ["n1:8888"],
        "worker": ["n1:8889", "n2:8888", "n2:8889", "m03:8888"],
    }
    assert resolver.get_task_info() == ("worker", 2)
    assert resolver.master() == "grpc://n2:8889"
    with pytest.raises(RuntimeError, match="more tasks"):
        resolvers.SlurmClusterResolver({"worker": 4}, gpus_per_node=2)


@pytest.mark.parametrize(
    ("nodes", "hosts"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-10,12]x", ["n08x", "n09x", "n10x", "n12x"]),
        ("r[1-2]c[1-2],z", ["r1c1", "r1c2", "r2c1", "r2c2", "z"]),
    ],
)
def test_slurm_node_lists(nodes: str, hosts: list[str]) -> None:
    assert hosts_of(nodes) == hosts


def test_kubernetes() -> None:
    def pod(name: str, ip: str, phase: str = "Running") -> Any:
        return SimpleNamespace(
            metadata=SimpleNamespace(name=name),
            status=SimpleNamespace(phase=phase, host_ip=ip),
        )

    pods = {"a=1": [pod("b", "10.0.0.2"), pod("a", "10.0.0.1")]}
    client = SimpleNamespace(
        list_pod_for_all_namespaces=lambda label_selector: SimpleNamespace(
            items=pods[label_selector]
        )
    )
    resolver = resolvers.KubernetesClusterResolver(
        {"worker": ["a=1"]}, override_client=client
    )
    assert resolver.cluster_spec().as_dict() == {
        "worker": ["10.0.0.1:8470", "10.0.0.2:8470"]
    }
    assert resolver.master("worker", 1) == "grpc://10.0.0.2:8470"
    pods["a=1"].append(pod("c", "fd00::7"))
    assert resolver.master("worker", 2) == "grpc://[fd00::7]:8470"
    pods["a=1"].append(pod("c", "", "Pending"))
    with pytest.raises(RuntimeError, match="Pending"):
        resolver.cluster_spec()
    with pytest.raises(RuntimeError, match="override_client"):
        resolvers.KubernetesClusterResolver()


@contextmanager
def pod_api(
    account: Path, answer: Any, code: int = 200
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """An API that always gives this answer: its URL, and what it is asked.

    Args:
      account: the directory for the files of the service account.
    """
    asked: list[tuple[str, str]] = []

    class Api(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *args: Any) -> None:
            pass

    (account / "namespace").write_text("ns")
    (account / "token").write_text("secret")
    with http.server.HTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("code", "answer", "reason"),
    [
        (403, {"message": "pods is forbidden: User x"}, r"403.*: pods is forbidden"),
        (500, "a page", "500"),
        (200, {"kind": "Status"}, "items"),
        (200, [], "list"),
    ],
)
def test_kubernetes_refuses(
    code: int, answer: Any, reason: str, tmp_path: Path
) -> None:
    with (
        pod_api(tmp_path, answer, code) as (url, _),
        pytest.raises(RuntimeError, match=reason) as caught,
    ):
        PodApi(tmp_path, url).list_pod_for_all_namespaces("job=ps")
    assert url in str(caught.value)
    with pytest.raises(RuntimeError, match="does not list the pods of namespace 'ns'"):
        PodApi(tmp_path, url).list_pod_for_all_namespaces("job=ps")


def test_kubernetes_is_asked_without_a_package(tmp_path: Path) -> None:
    status = {"phase": "Running", "podIP": "10.0.0.7"}
    pods = {"items": [{"metadata": {"name": "p"}, "status": status}]}
    with pod_api(tmp_path, pods) as (url, asked):
        resolver = resolvers.KubernetesClusterResolver(
            {"ps": ["job=ps"]}, 2222, override_client=PodApi(tmp_path, url)
        )
        assert resolver.cluster_spec().as_dict() == {"ps": ["10.0.0.7:2222"]}
    assert asked == [
        ("/api/v1/namespaces/ns/pods?labelSelector=job%3Dps", "Bearer secret")
    ]


def test_the_master_of_all_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"cluster": {"ps": ["a:1"], "worker": ["b:1"]}, "session_master": "m:2"}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert resolvers.TFConfigClusterResolver("worker", 0).master() == "m:2"


def test_accelerators_of_the_own_task(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["worker/task:0/device:GPU:0", "worker/task:0/device:CPU:0"]
    names += ["worker/task:1/device:GPU:0", "ps/task:0/device:GPU:0"]
    devices = [
        SimpleNamespace(name=f"/job:{name}", device_type=name[-5:-2]) for name in names
    ]
    monkeypatch.setattr(tf.Session, "list_devices", lambda self: devices)
    config = {"cluster": {"worker": ["b:1"]}, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    resolver = resolvers.TFConfigClusterResolver()
    assert resolver.num_accelerators() == {"GPU": 1}
    assert resolver.num_accelerators(task_id=2) == {}
