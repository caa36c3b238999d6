"""The pods of a namespace, asked of the Kubernetes API from inside a pod."""

from __future__ import annotations

import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from tensorloom.transport.peers import host_port

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
        self._base_url = base_url or f"https://{host_port.join(host or '', int(port))}"
        self._account = account

    def list_pod_for_all_namespaces(self, label_selector: str) -> Any:
        """The pods with a label.

        Raises:
          RuntimeError: the API cannot be reached, or does not let us see them.
        """
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
        try:
            with urllib.request.urlopen(
                request, timeout=_TIMEOUT_S, context=context
            ) as answer:
                pods = json.load(answer)["items"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise RuntimeError(
                f"The Kubernetes API at {self._base_url} does not list the pods of "
                f"namespace {namespace!r}: {_reason(error)}. The pod's service account "
                "must be allowed to list pods."
            ) from error
        return SimpleNamespace(items=[_pod(pod) for pod in pods])


def _reason(error: Exception) -> str:
    """What the API says, or what is wrong with the way to it."""
    if not isinstance(error, urllib.error.HTTPError):
        return str(error) or type(error).__name__
    with error, suppress(OSError, ValueError, LookupError, TypeError):
        return f"{error}: {json.load(error)['message']}"
    return str(error)


def _pod(pod: dict[str, Any]) -> Any:
    status = pod.get("status", {})
    return SimpleNamespace(
        metadata=SimpleNamespace(name=pod["metadata"]["name"]),
        status=SimpleNamespace(phase=status.get("phase"), host_ip=status.get("podIP")),
    )
