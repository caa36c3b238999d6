"""What programs say to AutoGraph in code that it converts."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.export import export


class _Unspecified:
    def __repr__(self) -> str:
        return "<object object>"


UNSPECIFIED: Final = _Unspecified()


def set_element_type(entity: Any, dtype: Any, shape: Any = UNSPECIFIED) -> None:
    """Says what a list holds, in converted code; does nothing elsewhere.

    Args:
      entity: the list.
      dtype: of its elements.
      shape: of each element.
    """
    del entity, dtype, shape


@export("autograph.experimental.set_loop_options")
def set_loop_options(
    parallel_iterations: Any = UNSPECIFIED,
    back_prop: Any = UNSPECIFIED,
    swap_memory: Any = UNSPECIFIED,
    maximum_iterations: Any = UNSPECIFIED,
) -> None:
    """Says how the loop around it runs. As in TensorFlow 1.15, it has no effect yet.

    Args:
      parallel_iterations, back_prop, swap_memory, maximum_iterations: those of
        `tf.while_loop`.
    """
    del parallel_iterations, back_prop, swap_memory, maximum_iterations
