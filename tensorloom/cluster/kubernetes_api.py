"""The pods of a namespace, asked of the Kubernetes API from inside a pod."""

from __future__ import annotations

import json
import os
import ssl
import urllib.parse
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT_S: Final = 30.0


class PodApi:
    """What a resolver needs of `kubernetes.client.CoreV1Api`.

    Pods are asked for in the pod's own namespace; their address is the pod's own.
    """

    def __init__(self, account: Path = _ACCOUNT, base_url: str = "") -> None:
        """Makes a client of the service account in a folder.

        Args:
          account: where the account's token is.
          base_url: of the API; by the pod's environment when empty.

        Raises:
          RuntimeError: this process is in no pod.
        """
        host = os.environ.get("KUBERNETES_SERVICE_HOST")
        port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        if not base_url and not host:
            raise RuntimeError(
                "This process is in no Kubernetes pod: pass override_client, such as "
                "kubernetes.client.CoreV1Api()"
            )
        self._base_url = base_url or f"https://{host}:{port}"
        self._account = account

    def list_pod_for_all_namespaces(self, label_selector: str) -> Any:
        """The pods with a label."""
        namespace = (self._account / "namespace").read_text().strip()
        query = urllib.parse.urlencode({"labelSelector": label_selector})
        url = f"{self._base_url}/api/v1/namespaces/{namespace}/pods?{query}"
        token = (self._account / "token").read_text().strip()  # it is renewed
        request = urllib.request.Request(
            url, headers={"Authorization": f"Bearer {token}"}
        )
        context = None
        if url.startswith("https:"):
            context = ssl.create_default_context(cafile=str(self._account / "ca.crt"))
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context) as r:
            pods = json.load(r)["items"]
        return SimpleNamespace(items=[_pod(pod) for pod in pods])


def _pod(pod: dict[str, Any]) -> Any:
    status = pod.get("status", {})
    return SimpleNamespace(
        metadata=SimpleNamespace(name=pod["metadata"]["name"]),
        status=SimpleNamespace(phase=status.get("phase"), host_ip=status.get("podIP")),
    )
