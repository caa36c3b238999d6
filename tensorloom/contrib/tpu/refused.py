"""What needs TPUs: programs can import it; calling it says what to do instead."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from tensorloom.framework import refusals
from tensorloom.framework.export import export, export_value
from tensorloom.framework.refusals import export_refused

_HELP: Final = (
    "tensorloom has no TPUs. Build the computation itself (use_tpu=False in "
    "TPUEstimator): it runs on this machine's GPU or CPU."
)


def refuse(name: str) -> NoReturn:
    """Raises RuntimeError: a name of `tf.contrib.tpu` needs TPUs."""
    refusals.refuse(f"contrib.tpu.{name}", _HELP)


# Also known as `tf.tpu`'s. Each has the parameters of TensorFlow's.
_PUBLIC: Final = {
    "batch_parallel": "computation, inputs=None, num_shards=1, infeed_queue=None, "
    "device_assignment=None, name=None",
    "initialize_system": "embedding_config=None, job=None",
    "replicate": "computation, inputs=None, infeed_queue=None, device_assignment=None, "
    "name=None, maximum_shapes=None",
    "rewrite": "computation, inputs=None, infeed_queue=None, device_assignment=None, "
    "name=None",
    "shard": "computation, inputs=None, num_shards=1, input_shard_axes=None, "
    "outputs_from_all_shards=True, output_shard_axes=None, infeed_queue=None, "
    "device_assignment=None, name=None",
    "shutdown_system": "job=None",
}
_OF_CONTRIB: Final = {
    "device_assignment": "topology, computation_shape=None, computation_stride=None, "
    "num_replicas=1",
    "export_estimator_savedmodel": "estimator, export_dir_base, "
    "serving_input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None",
    "infeed_dequeue": "dtype, shape, name=None",
    "infeed_dequeue_tuple": "dtypes, shapes, name=None",
    "infeed_enqueue": "input, shape=(), layout=(), device_ordinal=-1, name=None",
    "infeed_enqueue_tuple": "inputs, shapes, layouts=(), device_ordinal=-1, name=None",
    "keras_to_tpu_model": "model, strategy=None",
    "outfeed_dequeue": "dtype, shape, device_ordinal=-1, name=None",
    "outfeed_dequeue_tuple": "dtypes, shapes, device_ordinal=-1, name=None",
    "outfeed_enqueue": "input, name=None",
    "outfeed_enqueue_tuple": "inputs, name=None",
}


for _name, _parameters in {**_PUBLIC, **_OF_CONTRIB}.items():
    _value = refusals.refused(f"contrib.tpu.{_name}", _parameters, _HELP)
    export_value(_value, f"contrib.tpu.{_name}")
    if _name in _PUBLIC:
        export_value(_value, f"tpu.{_name}")


@export("contrib.tpu.DeviceAssignment", "tpu.experimental.DeviceAssignment")
class DeviceAssignment:
    """Refused: which cores of TPUs run which replica."""

    def __init__(self, topology: Any, core_assignment: Any) -> None:
        refuse("DeviceAssignment")

    @staticmethod
    def build(
        topology: Any,
        computation_shape: Any = None,
        computation_stride: Any = None,
        num_replicas: int = 1,
    ) -> NoReturn:
        """Refused."""
        refuse("DeviceAssignment.build")


export_refused(
    "tpu.experimental", {"initialize_tpu_system": "cluster_resolver=None"}, _HELP
)


@export("contrib.tpu.Topology")
class Topology:
    """Refused: how TPUs are connected."""

    def __init__(
        self,
        serialized: Any = None,
        mesh_shape: Any = None,
        device_coordinates: Any = None,
    ) -> None:
        refuse("Topology")


@export("contrib.tpu.InfeedQueue")
class InfeedQueue:
    """Refused: the queue that feeds a TPU."""

    def __init__(
        self,
        number_of_tuple_elements: Any = None,
        tuple_types: Any = None,
        tuple_shapes: Any = None,
        shard_dimensions: Any = None,
        name: Any = None,
    ) -> None:
        refuse("InfeedQueue")


@export("contrib.tpu.TPUDistributionStrategy")
class TPUDistributionStrategy:
    """Refused: replicas of a Keras model on TPUs."""

    def __init__(
        self, tpu_cluster_resolver: Any = None, using_single_core: bool = False
    ) -> None:
        refuse("TPUDistributionStrategy")
