"""`tf.keras`: layers, and what layers are made of."""

from __future__ import annotations

from tensorloom.keras import experimental, layers

__all__ = ["experimental", "layers"]
