"""Summaries: what a program reports of its training (`tf.summary`)."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.registry import proto_names


def __getattr__(name: str) -> Any:
    """Protobuf messages such as `tf.summary.Event`, loaded when first used."""
    return proto_names.find("summary", name)
