"""UnicodeScript: the script of each code point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

    pass


register_op(
    "UnicodeScript",
    inputs=["input: int32"],
    outputs=["output: int32"],
    shape_fn=unchanged_shape,
    doc="The number of the script of each code point, -1 for none.",
)


@export("strings.unicode_script")
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The script of each code point, as ICU numbers them; -1 for no code point."""
    return apply_op("UnicodeScript", input=input, name=name)  # type: ignore[no-any-return]
