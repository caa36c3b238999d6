"""TensorFlow's own passes over syntax trees: importable, and refused when used.

Libraries subclass or import them at the top of modules that few programs use.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tensorloom.framework.refusals import refuse, refused

_REMEDY: Final = (
    "autograph has passes of its own here, with other interfaces. Convert functions "
    "with tf.autograph.to_graph, or work on the trees of Python's module ast."
)


class Base(ast.NodeTransformer):
    """Refused: a transformer of TensorFlow's trees."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse("python.autograph.pyct.transformer.Base", _REMEDY)


transform: Final = refused("python.autograph.converters", "node, *args", _REMEDY)
ast_to_object: Final = refused(
    "python.autograph.pyct.compiler.ast_to_object", "nodes, *args, **kwargs", _REMEDY
)
replace: Final = refused(
    "python.autograph.pyct.templates.replace", "template, **replacements", _REMEDY
)
