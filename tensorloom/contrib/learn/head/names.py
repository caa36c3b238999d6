"""How summaries and metrics of a head are called."""

from __future__ import annotations


def summary_key(head_name: str | None, key: str) -> str:
    """The key, and the name of the head after it if it has one."""
    return f"{key}/{head_name}" if head_name else key
