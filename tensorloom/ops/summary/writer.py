"""Writers of event files that live in a session, and the ops that write to them."""

from __future__ import annotations

from collections.abc import Sequence

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import no_outputs, scalar_shape

_REAL_NUMBERS = (
    "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
    "uint64"
)

register_op(
    "SummaryWriter",
    outputs=["writer: resource"],
    attrs=["shared_name: string = ''", "container: string = ''"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A handle of a writer, which CreateSummaryFileWriter opens.",
)


def _register(
    name: str, inputs: Sequence[str], doc: str, attrs: Sequence[str] = ()
) -> None:
    register_op(
        name,
        inputs=["writer: resource", *inputs],
        attrs=[*attrs],
        shape_fn=no_outputs,
        stateful=True,
        doc=doc,
    )


_register(
    "CreateSummaryFileWriter",
    [
        "logdir: string",
        "max_queue: int32",
        "flush_millis: int32",
        "filename_suffix: string",
    ],
    "Opens an event file in a directory, unless the writer is open.",
)
_register(
    "CreateSummaryDbWriter",
    [
        "db_uri: string",
        "experiment_name: string",
        "run_name: string",
        "user_name: string",
    ],
    "Opens an SQLite database and a run in it, unless the writer is open.",
)
_register(
    "FlushSummaryWriter", [], "What was written can be read by others afterwards."
)
_register("CloseSummaryWriter", [], "Flushes and closes the file.")
_register(
    "WriteSummary",
    ["step: int64", "tensor: T", "tag: string", "summary_metadata: string"],
    "Writes a tensor, with the serialized SummaryMetadata of its plugin.",
    ["T: type"],
)
_register(
    "WriteRawProtoSummary",
    ["step: int64", "tensor: string"],
    "Writes serialized Summary messages.",
)
_register(
    "WriteScalarSummary",
    ["step: int64", "tag: string", "value: T"],
    "Writes a number.",
    [f"T: {{{_REAL_NUMBERS}}}"],
)
_register(
    "WriteHistogramSummary",
    ["step: int64", "tag: string", "values: T"],
    "Writes a histogram of the values.",
    [f"T: {{{_REAL_NUMBERS}, bool}} = DT_FLOAT"],
)
_register(
    "WriteImageSummary",
    ["step: int64", "tag: string", "tensor: T", "bad_color: uint8"],
    "Writes the first images of a batch; floats are scaled to 0 ... 255.",
    ["max_images: int >= 1 = 3", "T: {uint8, float, half, double} = DT_FLOAT"],
)
_register(
    "WriteAudioSummary",
    ["step: int64", "tag: string", "tensor: float", "sample_rate: float"],
    "Writes the first clips of a batch; samples are in [-1, 1].",
    ["max_outputs: int >= 1 = 3"],
)
_register(
    "WriteGraphSummary",
    ["step: int64", "tensor: string"],
    "Writes a serialized GraphDef.",
)
_register("ImportEvent", ["event: string"], "Writes a serialized Event.")
