"""A loader as a server's options say, in whichever process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_policy import OpPolicy
from tensorloom.serving.manager import model_config
from tensorloom.serving.manager.model_loader import ModelLoader
from tensorloom.serving.security.served_ops import ServedOps

if TYPE_CHECKING:
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.options import ServerOptions


def make_loader(
    options: ServerOptions, warm_up: Callable[[Servable], None]
) -> ModelLoader:
    """The loader that `options` ask for; `warm_up` ends each of its loads.

    Raises:
      ValueError: an option is wrong.
      OSError, errors.OpError: a file that they name is wrong.
    """
    return ModelLoader(
        ServedOps(OpPolicy(names(options.deny_ops)), names(options.allow_ops)),
        names(options.saved_model_tags),
        _session_config(options),
        options.max_concurrent_requests_per_model,
        options.enable_signature_method_name_check,
        warm_up,
        names(options.compile_models),
        options.file_system_poll_wait_seconds,
    )


def names(text: str) -> list[str]:
    """What stands between the commas of an option."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _session_config(options: ServerOptions) -> Any:
    """The `ConfigProto` of the models' sessions."""
    from tensorloom.protos.config_pb2 import ConfigProto

    config: Any = ConfigProto()
    if options.tensorflow_session_config_file:
        model_config.parse_text_file(options.tensorflow_session_config_file, config)
    both = options.tensorflow_session_parallelism
    intra = options.tensorflow_intra_op_parallelism or both
    inter = options.tensorflow_inter_op_parallelism or both
    if intra:
        config.intra_op_parallelism_threads = intra
    if inter:
        config.inter_op_parallelism_threads = inter
    fraction = options.per_process_gpu_memory_fraction
    if fraction:
        config.gpu_options.per_process_gpu_memory_fraction = fraction
    config.allow_soft_placement = True
    return config
