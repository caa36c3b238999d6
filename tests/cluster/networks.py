"""Tasks on machines of their own, as network namespaces, whose cables can be pulled.

The process that makes a `Network` must be in a network namespace that is its own:
`unshare --map-root-user --net` gives one to any user, where the kernel allows it.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress

from tests.cluster.processes import Processes

ENTER = ["unshare", "--map-root-user", "--net"]
_PORT = 2222
_HERE = "10.77.0.1"


def is_possible() -> bool:
    """Whether this machine lets its users have networks of their own."""
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    try_it = [*ENTER, "ip", "link", "add", "loom0", "type", "bridge"]
    return subprocess.run(try_it, capture_output=True, check=False).returncode == 0


class Network:
    """A switch that machines are connected to; this process is at it, too."""

    def __init__(self) -> None:
        _ip("link add switch type bridge")
        _ip(f"addr add {_HERE}/24 dev switch")
        _ip("link set switch up")
        _ip("link set lo up")
        self._machines: list[subprocess.Popen[bytes]] = []

    def machine(self) -> int:
        """A new machine; its number."""
        number = len(self._machines)
        holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo; exec sleep 3600"],
            stdout=subprocess.PIPE,
        )
        assert holder.stdout is not None
        holder.stdout.readline()  # it is in its namespace
        self._machines.append(holder)
        _ip(f"link add m{number} type veth peer name eth0 netns {holder.pid}")
        _ip(f"link set m{number} master switch up")
        for command in (
            "link set lo up",
            f"addr add {self.host(number)}/24 dev eth0",
            "link set eth0 up",
        ):
            _ip(command, self.prefix(number))
        return number

    def host(self, number: int) -> str:
        """A machine's address."""
        return f"10.77.0.{number + 2}"

    def prefix(self, number: int) -> list[str]:
        """What runs a command on a machine."""
        return ["nsenter", "-t", str(self._machines[number].pid), "-n"]

    def cut(self, number: int) -> None:
        """Nothing reaches a machine or leaves it, and nobody is told."""
        _ip(f"link set m{number} nomaster")

    def heal(self, number: int) -> None:
        """The machine is connected again."""
        _ip(f"link set m{number} master switch")

    def isolate(self, number: int, isolated: bool) -> None:
        """Machines that are isolated do not reach each other, but all others."""
        state = "on" if isolated else "off"
        _ip(f"link set m{number} type bridge_slave isolated {state}")

    def close(self) -> None:
        """Ends the machines."""
        for holder in self._machines:
            with suppress(OSError):
                holder.kill()
            holder.wait()
            assert holder.stdout is not None
            holder.stdout.close()


def _ip(command: str, prefix: list[str] | None = None) -> None:
    subprocess.run([*(prefix or []), "ip", *command.split()], check=True)


class Machines(Processes):
    """Tasks of a cluster, each on its own machine of a network."""

    def __init__(
        self, network: Network, environment: dict[str, str], **jobs: int
    ) -> None:
        super().__init__(environment, **jobs)
        self._network = network
        self._at = {
            (job, index): network.machine()
            for job, count in jobs.items()
            for index in range(count)
        }
        self.cluster = {
            job: [
                f"{network.host(self._at[job, index])}:{_PORT}"
                for index in range(count)
            ]
            for job, count in jobs.items()
        }

    def prefix(self, job: str, index: int) -> list[str]:
        """What runs a command on the machine of a task."""
        return self._network.prefix(self._at[job, index])

    def cut(self, job: str, index: int = 0) -> None:
        """Pulls the cable of a task."""
        self._network.cut(self._at[job, index])

    def heal(self, job: str, index: int = 0) -> None:
        """Plugs it in again."""
        self._network.heal(self._at[job, index])

    def separate(self, *jobs: str) -> None:
        """Cuts what connects the first tasks of some jobs to each other."""
        for job in jobs:
            self._network.isolate(self._at[job, 0], True)

    def join(self, *jobs: str) -> None:
        """Connects them again."""
        for job in jobs:
            self._network.isolate(self._at[job, 0], False)

    def add_machine(self, name: str) -> None:
        """A machine without a task."""
        self._at[name, 0] = self._network.machine()
