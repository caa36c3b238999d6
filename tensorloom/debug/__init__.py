"""The debugger: TensorFlow's tfdbg, and what goes beyond it ([debugging.md]).

`from tensorflow.python import debug as tf_debug` is this module.
"""

from tensorloom.debug.dumps.datum import DebugTensorDatum
from tensorloom.debug.dumps.debug_graph import reconstruct_non_debug_graph_def
from tensorloom.debug.dumps.dump_dir import DebugDumpDir
from tensorloom.debug.dumps.event_files import (
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from tensorloom.debug.gradients import GradientsDebugger
from tensorloom.debug.sessions.dumping import DumpingDebugWrapperSession
from tensorloom.debug.sessions.grpc import (
    GrpcDebugWrapperSession,
    TensorBoardDebugWrapperSession,
)
from tensorloom.debug.sessions.hooks import (
    DumpingDebugHook,
    GrpcDebugHook,
    LocalCLIDebugHook,
    TensorBoardDebugHook,
)
from tensorloom.debug.sessions.local_cli import LocalCLIDebugWrapperSession
from tensorloom.debug.sessions.requests import WatchOptions
from tensorloom.debug.stepper import Stepper, Stop
from tensorloom.debug.watching import (
    add_debug_tensor_watch,
    watch_graph,
    watch_graph_with_blacklists,
)
