"""Which ops have a gradient, compared with the registries of both TensorFlows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorloom as tf
from tensorloom.framework.registry import gradient_registry, op_registry
from tests.peer.ops import batch_runner

if TYPE_CHECKING:
    from tests.peer.peers import Peer

_REGISTRY = """
from tensorflow.python.framework import ops
registry = getattr(ops, "_gradient_registry", None) or ops.gradient_registry
found = [(n, v["type"] is not None) for n, v in registry._registry.items()]
result = [n for n, there in found if there], [n for n, there in found if not there]
"""
# TensorFlow's function for it could not be called; it is never asked.
_ASIDE = {"LoopCond"}
# 1.15 has the op; its gradient, or the statement that there is none, came later.
_LATER = {"RandomShuffle", "RaggedTensorToVariant"}
# TensorFlow has no such ops, nor says anything of their gradients.
_OURS_ALONE = "DynamicEmbedding"


def _registry(peer: Peer) -> dict[str, bool]:
    contrib = f"""
import importlib
for module in {batch_runner.CONTRIB!r}:
    importlib.import_module("tensorflow.contrib." + module)
"""
    is_first = peer.version == "1.15"
    answer = peer.execute((contrib if is_first else "") + _REGISTRY)
    assert answer["error"] is None, answer["error"]
    differentiable, stated = (part[1] for part in answer["result"][1])
    return {str(n): True for n in differentiable} | {str(n): False for n in stated}


def _ours(name: str) -> bool | None:
    try:
        return gradient_registry.find_gradient(name) is not None
    except LookupError:
        return None


def test_registries_agree(peer115: Peer, peer221: Peer) -> None:
    assert tf.raw_ops
    older, newer = _registry(peer115), _registry(peer221)
    assert min(len(older), len(newer)) > 400
    names = set(op_registry.registered_ops())
    different = {
        name: (_ours(name), older.get(name))
        for name in names & set(older) - _ASIDE - _LATER
        if _ours(name) != older[name]
    }
    assert not different
    silent = [
        name
        for name in names - set(older) - set(newer)
        if _ours(name) is False and not name.startswith(("_", _OURS_ALONE))
    ]
    assert not silent
