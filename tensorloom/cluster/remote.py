"""Sessions with a target: `grpc://host:port`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.client.session.master_factory import register_master_factory
from tensorloom.client.session.remote_master import RemoteMaster
from tensorloom.cluster.directory import wait_limit_s
from tensorloom.cluster.server import running_at
from tensorloom.transport.negotiated import NegotiatedChannel

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import MasterInterface
    from tensorloom.framework.runtime.session_config import SessionConfig


def make_remote_master(target: str, config: SessionConfig) -> MasterInterface:
    """The master at a target; one of this process is called without a network."""
    server = running_at(target)
    if server is not None:
        return server.master
    channel = NegotiatedChannel(target.removeprefix("grpc://"))
    return RemoteMaster(target, channel, wait_limit_s())


register_master_factory("grpc", make_remote_master)
