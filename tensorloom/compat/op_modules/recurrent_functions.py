"""What `tensorflow.python.ops.rnn_cell_impl` checks cells with."""

from __future__ import annotations

from typing import Any, Final

# What the message of `assert_like_rnncell` matches.
ASSERT_LIKE_RNNCELL_ERROR_REGEXP: Final = "is not an RNNCell"


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Checks that an object has what an `RNNCell` has.

    Args:
      cell_name: what the caller's argument is called, for the message.

    Raises:
      TypeError: something is missing; the message says what.
    """
    makes_states = _has(cell, "get_initial_state") or _has(cell, "zero_state")
    needs = {
        "'output_size' property is missing": _has(cell, "output_size"),
        "'state_size' property is missing": _has(cell, "state_size"),
        "either 'zero_state' or 'get_initial_state' method is required": makes_states,
        "is not callable": callable(cell),
    }
    missing = [error for error, is_there in needs.items() if not is_there]
    if missing:
        raise TypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: "
            f"{', '.join(missing)}."
        )


def _has(cell: Any, name: str) -> bool:
    try:
        getattr(cell, name)
    except AttributeError:
        return False
    except Exception:  # it is there, but not ready: a cell that is not built
        return True
    return True
