"""`tensorflow.python.debug`: TensorFlow's debugger can be imported, and is refused."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.refusals import refuse, refused

_REMEDY: Final = (
    "tensorloom has no tfdbg. Look at values with tf.print, or fetch them; "
    "tf.add_check_numerics_ops names the operation that first gives NaN or infinity, "
    "and `tensorloom audit` says what a graph lacks."
)


def _refused_class(name: str) -> type:
    def refuse_it(self: Any, *args: Any, **kwargs: Any) -> None:
        refuse(f"python.debug.{name}", _REMEDY)

    return type(name, (), {"__init__": refuse_it, "__doc__": f"Refused: {_REMEDY}"})


DebugDumpDir: Final = _refused_class("DebugDumpDir")
DebugTensorDatum: Final = _refused_class("DebugTensorDatum")
DumpingDebugHook: Final = _refused_class("DumpingDebugHook")
DumpingDebugWrapperSession: Final = _refused_class("DumpingDebugWrapperSession")
GradientsDebugger: Final = _refused_class("GradientsDebugger")
GrpcDebugHook: Final = _refused_class("GrpcDebugHook")
GrpcDebugWrapperSession: Final = _refused_class("GrpcDebugWrapperSession")
LocalCLIDebugHook: Final = _refused_class("LocalCLIDebugHook")
LocalCLIDebugWrapperSession: Final = _refused_class("LocalCLIDebugWrapperSession")
TensorBoardDebugHook: Final = _refused_class("TensorBoardDebugHook")
TensorBoardDebugWrapperSession: Final = _refused_class("TensorBoardDebugWrapperSession")
WatchOptions: Final = _refused_class("WatchOptions")

add_debug_tensor_watch: Final = refused(
    "python.debug.add_debug_tensor_watch", "run_options, *args, **kwargs", _REMEDY
)
watch_graph: Final = refused(
    "python.debug.watch_graph", "run_options, graph, *args, **kwargs", _REMEDY
)
watch_graph_with_blacklists: Final = refused(
    "python.debug.watch_graph_with_blacklists",
    "run_options, graph, *args, **kwargs",
    _REMEDY,
)
