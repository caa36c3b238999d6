"""Names of `tf.contrib.eager` that need eager execution; using one says so."""

from __future__ import annotations

from typing import Any, NoReturn

from tensorloom.contrib.eager.graph_names import ExecutionCallback
from tensorloom.framework.export import export
from tensorloom.framework.refusals import export_refused, refuse

_GRAPHS = "tensorloom has no eager execution. Build a graph and run it in a tf.Session"
_REMOTE = f"{_GRAPHS}; tf.train.Server and a session's target are for other machines."
_CHECKS = (
    "it looks at operations as eager execution runs them. In graphs use "
    "tf.check_numerics or tf.add_check_numerics_ops."
)

export_refused(
    "contrib.eager",
    {
        "enable_remote_eager_execution": "config=None, device_policy=None, "
        "execution_mode=None, server_def=None",
        "connect_to_remote_host": "remote_host=None, job_name='worker'",
        "set_server_def": "server_def",
    },
    _REMOTE,
)
export_refused(
    "contrib.eager",
    {"run": "main=None, argv=None"},
    f"{_GRAPHS}, and start the program by tf.app.run.",
)
export_refused(
    "contrib.eager",
    {
        "add_execution_callback": "callback",
        "errstate": "inf_or_nan=None",
        "seterr": "inf_or_nan=None",
    },
    _CHECKS,
)


@export("contrib.eager.inf_nan_callback")
def inf_nan_callback(
    op_type: Any,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    op_name: Any,
    check_inf: bool = True,
    check_nan: bool = True,
    action: Any = ExecutionCallback.RAISE,
) -> NoReturn:
    """Refused: it looks at operations as eager execution runs them."""
    refuse("contrib.eager.inf_nan_callback", _CHECKS)


@export("contrib.eager.inf_callback")
def inf_callback(
    op_type: Any,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    op_name: Any,
    action: Any = ExecutionCallback.RAISE,
) -> NoReturn:
    """Refused: it looks at operations as eager execution runs them."""
    refuse("contrib.eager.inf_callback", _CHECKS)


@export("contrib.eager.nan_callback")
def nan_callback(
    op_type: Any,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    op_name: Any,
    action: Any = ExecutionCallback.RAISE,
) -> NoReturn:
    """Refused: it looks at operations as eager execution runs them."""
    refuse("contrib.eager.nan_callback", _CHECKS)


@export("contrib.eager.restore_variables_on_create")
def restore_variables_on_create(save_path: str | None, map_func: Any = None) -> None:
    """Refused: variables of graphs get their values from sessions.

    Raises:
      ValueError: always, as TensorFlow does in graphs.
    """
    raise ValueError(
        "Currently, restore_variables_on_create can only be used with eager execution "
        "enabled. In graphs use tf.train.init_from_checkpoint or tf.train.Saver."
    )


@export("contrib.eager.Saver")
class Saver:
    """Refused: in graphs use `tf.train.Saver`.

    Raises:
      RuntimeError: always, as TensorFlow does in graphs.
    """

    def __init__(self, var_list: Any) -> None:
        raise RuntimeError(
            "tfe.Saver can only be used when eager execution is enabled. Use "
            "tf.train.Saver when building graphs."
        )


@export("contrib.eager.Iterator")
class Iterator:
    """Refused: in graphs make iterators by datasets' methods.

    Raises:
      RuntimeError: always, as TensorFlow does in graphs.
    """

    def __init__(self, dataset: Any) -> None:
        raise RuntimeError(
            "tf.contrib.eager.Iterator is only supported when eager execution is "
            "enabled. In graphs use tf.data.make_one_shot_iterator or "
            "tf.data.make_initializable_iterator."
        )
