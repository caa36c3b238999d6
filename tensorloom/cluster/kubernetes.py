"""A cluster of Kubernetes pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorloom.cluster.resolvers import NAMES, ClusterResolver
from tensorloom.framework.export import export
from tensorloom.train.cluster_spec import ClusterSpec
from tensorloom.transport.peers import host_port


@export(NAMES + "KubernetesClusterResolver")
class KubernetesClusterResolver(ClusterResolver):
    """Asks Kubernetes for the pods of each job."""

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Any = None,
    ) -> None:
        """Makes a resolver.

        Args:
          job_to_label_mapping: for each job the label selectors of its pods.
          tf_server_port: where their servers listen.
          rpc_layer: the protocol.
          override_client: a `kubernetes.client.CoreV1Api`, or what has its
            `list_pod_for_all_namespaces`. If None, the API is asked as the pod's
            service account, for the pod's own namespace; no package is needed.

        Raises:
          RuntimeError: there is no client, and this process is in no pod.
        """
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self._client = override_client
        self.rpc_layer = rpc_layer
        if override_client is None:
            from tensorloom.cluster.kubernetes_api import PodApi

            self._client = PodApi()

    def cluster_spec(self) -> ClusterSpec:
        """The running pods of each job, by their names.

        Raises:
          RuntimeError: a pod is not running, or the API does not answer.
        """
        cluster: dict[str, list[str]] = {}
        for job, selectors in self._labels.items():
            tasks = cluster.setdefault(job, [])
            for selector in selectors:
                found = self._client.list_pod_for_all_namespaces(
                    label_selector=selector
                )
                for pod in sorted(found.items, key=lambda pod: str(pod.metadata.name)):
                    if pod.status.phase != "Running":
                        raise RuntimeError(
                            f'Pod "{pod.metadata.name}" is not running; phase: '
                            f'"{pod.status.phase}"'
                        )
                    tasks.append(host_port.join(pod.status.host_ip, self._port))
        return ClusterSpec(cluster)

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of a task."""
        return self.master_at(task_type, task_id, rpc_layer)
