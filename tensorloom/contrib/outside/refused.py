"""What contrib has for TensorRT, Bigtable and other systems, and what to use.

TensorFlow's own builds have most of these only where the system is there.
"""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.refusals import export_refused, refuse

_PIPELINE: Final = (
    "Read it with the system's own Python client in tf.data.Dataset.from_generator."
)

export_refused(
    "contrib.tensorrt",
    {
        "create_inference_graph": "input_graph_def, outputs, max_batch_size=1, "
        "max_workspace_size_bytes=1073741824, precision_mode='FP32', "
        "minimum_segment_size=3, is_dynamic_op=False, maximum_cached_engines=1, "
        "cached_engine_batches=None, use_calibration=True, input_saved_model_dir=None, "
        "input_saved_model_tags=None, input_saved_model_signature_key=None, "
        "output_saved_model_dir=None, session_config=None",
        "calib_graph_to_infer_graph": "calibration_graph_def, is_dynamic_op=False",
    },
    "tensorloom has no TensorRT. The frozen graph itself runs on this machine's GPU or "
    "CPU; NVIDIA's tools build TensorRT engines from an exported SavedModel.",
)


def _refused_class(name: str, doc: str, remedy: str) -> None:
    def refuse_it(self: Any, *args: Any, **kwargs: Any) -> None:
        refuse(f"contrib.{name}", remedy)

    made = type(name.rpartition(".")[2], (), {"__init__": refuse_it, "__doc__": doc})
    export(f"contrib.{name}")(made)


for _name, _what in {
    "tensorrt.TrtGraphConverter": "a converter of graphs for TensorRT",
    "kinesis.KinesisDataset": "records of Amazon Kinesis",
    "ignite.IgniteDataset": "a cache of Apache Ignite",
    "hadoop.SequenceFileDataset": "a sequence file of Apache Hadoop",
    "libsvm.LibsvmDataset": "a file of LIBSVM",
    "bigtable.BigtableClient": "Google's Bigtable",
    "mpi_collectives.DistributedOptimizer": "gradients added up by MPI",
}.items():
    _remedies = {
        "tensorrt": "tensorloom has no TensorRT. Run the graph itself.",
        "mpi_collectives": "tensorloom has no MPI. Use tf.train.SyncReplicasOptimizer "
        "or tf.distribute's strategies.",
    }
    _remedy = _remedies.get(
        _name.partition(".")[0], f"tensorloom does not read {_what}. {_PIPELINE}"
    )
    _refused_class(_name, f"Refused: {_what}.", _remedy)
