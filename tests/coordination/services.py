"""Lock services for tests: a directory, and real servers on loopback."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cluster.clusters import free_ports

_START_S = 120.0


class Service(ABC):
    """A lock service that tests connect to, cut and restart."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @abstractmethod
    def url(self, address: str | None = None) -> str:
        """What a coordinator takes; at another address, such as a proxy's."""

    @abstractmethod
    def close(self) -> None:
        """Ends it."""


class Files(Service):
    """A directory."""

    def url(self, address: str | None = None) -> str:
        """See `Service`."""
        return f"file://{self.directory}/locks"

    def close(self) -> None:
        """See `Service`."""


class Server(Service):
    """A server process."""

    scheme: str
    program: str

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._process: subprocess.Popen[bytes] | None = None
        self.address = ""
        for _ in range(5):  # another process may take the port first
            port, self.second_port = free_ports(2)
            self.address = f"127.0.0.1:{port}"
            if self.start():
                return
        pytest.fail(f"{self.program} does not start: {self._log()}")

    @abstractmethod
    def command(self, port: str) -> Sequence[str]:
        """What starts it, in the foreground, with its data in `directory`."""

    def url(self, address: str | None = None) -> str:
        """See `Service`."""
        return f"{self.scheme}://{address or self.address}"

    def start(self) -> bool:
        """Starts it; whether it answers."""
        host, _, port = self.address.partition(":")
        with open(self.directory / "log", "ab") as log:
            self._process = subprocess.Popen(
                self.command(port), cwd=self.directory, stdout=log, stderr=log
            )
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(OSError), socket.create_connection((host, int(port)), 1.0):
                return True
            time.sleep(0.05)
        self.close()
        return False

    def close(self) -> None:
        """See `Service`."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(60)
            self._process = None

    def _log(self) -> str:
        return (self.directory / "log").read_text(errors="replace")[-2000:]


class Redis(Server):
    """redis-server, which writes down each change."""

    scheme, program = "redis", "redis-server"

    def command(self, port: str) -> Sequence[str]:
        """See `Server`."""
        durable = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"]
        return ["redis-server", "--bind", "127.0.0.1", "--port", port, *durable]

    def forget(self) -> None:
        """Has it lose all that it knows, as one without a disk does."""
        import redis

        with redis.Redis.from_url(self.url()) as client:
            client.flushall()


class Etcd(Server):
    """etcd, which allows leases of a second."""

    scheme, program = "etcd3+http", "etcd"

    def command(self, port: str) -> Sequence[str]:
        """See `Server`."""
        clients = f"http://127.0.0.1:{port}"
        peers = f"http://127.0.0.1:{self.second_port}"
        return [
            "etcd",
            *["--data-dir", str(self.directory / "data")],
            *["--listen-client-urls", clients, "--advertise-client-urls", clients],
            *["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers],
            *["--initial-cluster", f"default={peers}"],
            *["--heartbeat-interval", "50", "--election-timeout", "500"],
        ]


class ZooKeeper(Server):
    """ZooKeeper, which allows sessions of one second to two minutes."""

    scheme, program = "zookeeper", "zookeeper"

    def command(self, port: str) -> Sequence[str]:
        """See `Server`."""
        config = self.directory / "zoo.cfg"
        config.write_text(
            f"dataDir={self.directory}/data\nclientPort={port}\n"
            "clientPortAddress=127.0.0.1\ntickTime=500\nmaxSessionTimeout=120000\n"
            "admin.enableServer=false\n"
        )
        jars = ":".join([*_ZOOKEEPER_JARS, "/usr/share/java/slf4j-simple.jar"])
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        return ["java", "-Xmx128m", "-cp", jars, main, str(config)]


_ZOOKEEPER_JARS = [
    "/usr/share/java/zookeeper.jar",
    "/usr/share/java/zookeeper-jute.jar",
]

#: Who needs no server, and who does: `make test-engines` installs those.
KINDS: dict[str, type[Service]] = {
    "files": Files,
    "redis": Redis,
    "etcd": Etcd,
    "zookeeper": ZooKeeper,
}
SERVERS = [
    pytest.param(kind, marks=pytest.mark.engines) for kind in KINDS if kind != "files"
]
ALL = ["files", *SERVERS]
