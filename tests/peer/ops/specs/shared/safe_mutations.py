"""Parts of specs that several families use: SAFE."""

from __future__ import annotations

# Wrong sizes make TensorFlow's sparse kernels read what is not theirs.
SAFE = ("dtype",)
