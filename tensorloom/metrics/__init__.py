"""`tf.metrics`: metrics whose state grows batch by batch in local variables."""

from __future__ import annotations

from tensorloom.framework.registry.package_modules import lazy_package

__getattr__, __dir__ = lazy_package(__name__)
