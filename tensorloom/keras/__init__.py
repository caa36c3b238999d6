"""`tf.keras`: layers, and what layers are made of."""

from __future__ import annotations

from tensorloom.keras import layers

__all__ = ["layers"]
