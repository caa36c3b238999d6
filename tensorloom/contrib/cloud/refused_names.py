"""What reads from Google Cloud: programs can import it; a call says what to do."""

from __future__ import annotations

import inspect
from typing import Any, Final

from tensorloom.framework.export import export_value
from tensorloom.framework.refusals import export_refused, refused, signature

_REMEDY: Final = (
    "tensorloom does not read from Google Cloud. Copy the data into files, and read "
    "them with tf.data."
)
_CLASSES: Final = {
    "BigQueryReader": "project_id, dataset_id, table_id, timestamp_millis, "
    "num_partitions, features=None, columns=None, test_end_point=None, name=None",
    "BigtableClient": "project_id, instance_id, connection_pool_size=None, "
    "max_receive_message_size=None",
    "BigtableTable": "name, snapshot, resource",
    "BlockCacheParams": "block_size=None, max_bytes=None, max_staleness=None",
    "ConfigureGcsHook": "credentials=None, block_cache=None",
}


def _refused_class(name: str, parameters: str) -> type:
    """A class that cannot be made."""
    refuse = refused(f"contrib.cloud.{name}", parameters, _REMEDY)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        refuse(*args, **kwargs)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    rest = signature(parameters).parameters.values()
    __init__.__signature__ = inspect.Signature([own, *rest])  # type: ignore[attr-defined]
    return type(name, (), {"__init__": __init__, "__doc__": refuse.__doc__})


for _name, _parameters in _CLASSES.items():
    export_value(_refused_class(_name, _parameters), f"contrib.cloud.{_name}")
export_refused(
    "contrib.cloud",
    {
        "configure_colab_session": "session",
        "configure_gcs": "session, credentials=None, block_cache=None, device=None",
    },
    _REMEDY,
)
