"""Options of a session that would change what a program computes or where it runs.

They are refused by name rather than passed over: a program that asks for them counts
on them. Options that change speed or memory alone, such as how long a thread spins, are
taken and do nothing.
"""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework import errors

# Path of a field in ConfigProto: what it asks for, that is not done here.
_REFUSED: Final = {
    "graph_options.rewrite_options.auto_parallel.enable": "replicates the graph",
    "graph_options.rewrite_options.custom_optimizers.parameter_map": (
        "hands parameters to a pass"
    ),
    "gpu_options.experimental.virtual_devices": "divides a GPU into several devices",
    "gpu_options.experimental.num_virtual_devices_per_gpu": (
        "divides a GPU into several devices"
    ),
}


def check(config: Any) -> None:
    """Looks for options that are not supported.

    Args:
      config: a `ConfigProto`.

    Raises:
      errors.UnimplementedError: one of them is set; the message names it.
    """
    for path, effect in _REFUSED.items():
        if _is_set(config, path.split(".")):
            raise errors.UnimplementedError(
                None,
                None,
                f"ConfigProto.{path} is set, which {effect}; this is not supported. "
                "Leave it out.",
            )


def _is_set(message: Any, names: list[str]) -> bool:
    value = getattr(message, names[0])
    if len(names) == 1:
        return bool(value)
    each = [value] if hasattr(value, "DESCRIPTOR") else value
    return any(_is_set(one, names[1:]) for one in each)
