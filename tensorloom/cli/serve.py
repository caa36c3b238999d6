"""`tensorloom serve`: a model server, with the flags of TensorFlow Serving's."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

from tensorloom.cli.command import Command
from tensorloom.cli.signals import stop_at_signals

_TRUE: Final = ("1", "true", "t", "yes", "y", "on", "")
_FALSE: Final = ("0", "false", "f", "no", "n", "off")
# So many objects come before those without references are looked for. A request's JSON
# is hundreds of lists, which go away by themselves: Python's usual 700 would have a
# server look at a model's objects again and again.
_GARBAGE: Final = 50_000

# Every field of `ServerOptions`: its flag has the same name.
HELP: Final = {
    "port": "for gRPC; 0: none, -1: any free one",
    "rest_api_port": "for HTTP; 0: none, -1: any free one",
    "bind_address": "the address to listen at; 0.0.0.0 for all",
    "grpc_socket_path": "a UNIX socket for gRPC",
    "grpc_channel_arguments": "gRPC's, as name=value, with commas between them",
    "rest_api_timeout_in_ms": "the time that an HTTP request may take",
    "rest_api_enable_cors_support": "whether pages of any origin may call",
    "model_name": "the name of the only model",
    "model_base_path": "its directory, with a directory for each version",
    "model_config_file": "a ModelServerConfig in text format, for any number of models",
    "model_config_file_poll_wait_seconds": "between two looks at it; 0: one look",
    "file_system_poll_wait_seconds": "between two looks for versions; 0: one look",
    "allow_version_labels_for_unavailable_models": "whether a new label may stand for "
    "a version that is not there yet",
    "saved_model_tags": "of the MetaGraphs, with commas between them",
    "num_load_threads": "that load at a time",
    "max_num_load_retries": "of a load that failed",
    "load_retry_interval_micros": "between them",
    "enable_model_warmup": "whether models run the requests that they bring along",
    "num_request_iterations_for_warmup": "how often each of those is run",
    "version_transition": "'availability' loads before it unloads, 'resource' after",
    "model_memory_limit_mb": "of all models; 0: what the machine has",
    "unload_grace_seconds": "that requests may hold up an unloading",
    "model_processes": "names or patterns of models, with commas between them, of "
    "which each version has a process of its own; '*' for all",
    "model_process_memory_mb": "that such a process may allocate; 0: any number",
    "model_process_hang_seconds": "after which a process that does not answer, or end "
    "a step whose time is over, is ended",
    "tensorflow_session_config_file": "a ConfigProto in text format",
    "tensorflow_session_parallelism": "threads of a session; 0: chosen",
    "tensorflow_intra_op_parallelism": "threads of one op; 0: chosen",
    "tensorflow_inter_op_parallelism": "ops at a time; 0: chosen",
    "per_process_gpu_memory_fraction": "of a GPU; 0: it grows by need",
    "compile_models": "names or patterns of models, with commas between them, that run "
    "as machine code once it is compiled; '*' for all",
    "enable_batching": "whether requests are put together",
    "batching_parameters_file": "BatchingParameters in text format",
    "enable_per_model_batching_parameters": "whether those in a model's "
    "batching_params.pbtxt count instead",
    "enable_serialization_as_tensor_content": "whether outputs are raw bytes",
    "enable_signature_method_name_check": "whether a signature can be called by its "
    "own method alone",
    "ssl_config_file": "an SSLConfig in text format",
    "api_key_file": "keys, one on a line; a caller needs one of them",
    "deny_ops": "ops that are not run for models, as `tensorloom server --deny-ops`; "
    "'' for none",
    "allow_ops": "names or patterns of ops that are run all the same",
    "enable_config_reload": "whether callers may change what is served",
    "max_request_bytes": "of one request",
    "max_concurrent_requests": "of all models",
    "max_concurrent_requests_per_model": "of one version; 0: any number",
    "monitoring_config_file": "a MonitoringConfig in text format",
    "access_log": "a file for a line of JSON on each request; '-': standard error",
    "request_log_directory": "where callers that change the config may have requests "
    "logged; '': nowhere",
    "enable_status_page": "whether there is a status page at /",
}

# Flags of TensorFlow Serving's that change nothing here, so that its start scripts run.
_WITHOUT_EFFECT: Final = {
    "rest_api_num_threads": "each request has a thread",
    "grpc_max_threads": "each call has a thread; see --max_concurrent_requests",
    "num_unload_threads": "one thread unloads",
    "flush_filesystem_caches": "the operating system does so",
    "enable_grpc_healthcheck_service": "it is always there",
    "remove_unused_fields_from_bundle_metagraph": "they are not kept",
    "enable_profiler": "there is no profiler service",
    "xla_cpu_compilation_enabled": "there is no XLA",
    "xla_gpu_compilation_enabled": "there is no XLA",
    "num_tflite_pools": "there is no TensorFlow Lite",
    "num_tflite_interpreters_per_pool": "there is no TensorFlow Lite",
    "skip_initialize_tpu": "there are no TPUs",
}
# Those that would change what is served or who may call.
_REFUSED: Final = {
    "platform_config_file": "there is one platform: tensorflow",
    "use_alts_credentials": "use --ssl_config_file",
    "thread_pool_factory_config_file": "use --tensorflow_session_config_file",
    "mixed_precision": "write the model in the precision that it shall have",
    "prefer_tflite_model": "there is no TensorFlow Lite",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    from tensorloom.serving.options import ServerOptions

    for name in (*_WITHOUT_EFFECT, *_REFUSED):
        parser.add_argument(f"--{name}", nargs="?", const="", help=argparse.SUPPRESS)
    add_flags(parser, ServerOptions, HELP)


def add_flags(
    parser: argparse._ActionsContainer,
    options: Any,
    texts: Mapping[str, str],
    **defaults: Any,
) -> None:
    """Adds a flag for each field of a class of options, with its name.

    Args:
      parser: of the command, or a group of its flags.
      options: a dataclass whose fields have defaults.
      texts: the help on each.
      defaults: those that are others here.
    """
    for field in dataclasses.fields(options):
        kind = type(field.default)
        default = defaults.get(field.name, field.default)
        given: dict[str, Any] = {"type": _boolean if kind is bool else kind}
        if kind is bool:
            given.update(nargs="?", const=True, metavar="BOOL")
        parser.add_argument(
            f"--{field.name}",
            default=default,
            help=f"{texts[field.name]} (default: {default!r})",
            **given,
        )


def chosen(given: argparse.Namespace, options: Any) -> Any:
    """The options of a class that a command line gives."""
    names = [field.name for field in dataclasses.fields(options)]
    return options(**{name: getattr(given, name) for name in names})


def _boolean(text: str) -> bool:
    """As TensorFlow's flags: `--name`, `--name=true`, `--name=false`."""
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.framework import errors
    from tensorloom.serving.options import ServerOptions

    for name, reason in _REFUSED.items():
        given = getattr(options, name)
        if given is not None and given.lower() not in ("false", "0"):
            print(f"tensorloom serve: --{name}: {reason}", file=sys.stderr)
            return 2
    for name, reason in _WITHOUT_EFFECT.items():
        if getattr(options, name) is not None:
            print(f"--{name} has no effect: {reason}", file=sys.stderr)
    try:
        return _serve(chosen(options, ServerOptions))
    except ImportError as error:
        print(
            f"tensorloom serve: {error}: install 'tensorloom[serving]'", file=sys.stderr
        )
        return 2
    except (ValueError, OSError, errors.OpError) as error:
        message = getattr(error, "message", None) or str(error)
        print(f"Failed to start server. Error: {message}", file=sys.stderr)
        return 2


COMMAND = Command(
    name="serve",
    summary="serve models over gRPC and HTTP, as TensorFlow Serving does",
    add_arguments=_add_arguments,
    execute=_execute,
)


def prepare_process() -> None:
    """Makes this process one that serves."""
    import logging

    # Models have any op.
    import tensorloom  # noqa: F401

    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # What is loaded by now stays: it need not be looked at for garbage, which stops all
    # threads meanwhile.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE, 10, 10)
    # A thread that computes in Python, such as one that loads, hands over to requests
    # sooner.
    sys.setswitchinterval(0.001)


def _serve(options: Any) -> int:
    from tensorloom.serving.model_server import ModelServer

    prepare_process()
    server = ModelServer(options)
    stopping = threading.Event()

    stop_at_signals(lambda: _stop_waiting(server, stopping))
    try:
        for what, port in (("gRPC", server.grpc_port), ("HTTP", server.rest_port)):
            if port is not None:
                where = f"{options.bind_address}:{port}"
                print(f"{what} is at {where}", file=sys.stderr, flush=True)
        if server.start():
            print("All models are available", file=sys.stderr, flush=True)
        stopping.wait()
    finally:
        server.stop()
    return 0


def _stop_waiting(server: Any, stopping: threading.Event) -> None:
    """Ends the waiting for models, and then the server."""
    server.core.cancel_start()
    stopping.set()
