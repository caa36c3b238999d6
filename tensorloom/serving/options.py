"""`ServerOptions`: what a model server is told when it starts.

The names are those of TensorFlow Serving's flags, with its defaults, where it has the
flag. Others are this project's: they say so.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """One field for each flag."""

    # Where it listens.
    port: int = 8500
    rest_api_port: int = 0
    #: Ours: loopback, until somebody says otherwise.
    bind_address: str = "127.0.0.1"
    grpc_socket_path: str = ""
    grpc_channel_arguments: str = ""
    rest_api_timeout_in_ms: int = 30000
    rest_api_enable_cors_support: bool = False

    # Which models.
    model_name: str = "default"
    model_base_path: str = ""
    model_config_file: str = ""
    model_config_file_poll_wait_seconds: float = 0.0
    file_system_poll_wait_seconds: float = 1.0
    allow_version_labels_for_unavailable_models: bool = False
    saved_model_tags: str = "serve"

    # How they are loaded.
    num_load_threads: int = 1
    max_num_load_retries: int = 5
    load_retry_interval_micros: int = 60_000_000
    enable_model_warmup: bool = True
    num_request_iterations_for_warmup: int = 0
    #: Ours: "availability" or "resource".
    version_transition: str = "availability"
    #: Ours: of all models together; 0: what the machine has.
    model_memory_limit_mb: int = 0
    #: Ours: how long requests may hold up the unloading of their version.
    unload_grace_seconds: float = 60.0
    #: Ours: names or patterns of models that have a process of their own.
    model_processes: str = ""
    #: Ours: what such a process may allocate; 0: any number.
    model_process_memory_mb: int = 0
    #: Ours: a process that is silent, or goes on with a step that was to end, for so
    #: long is ended.
    model_process_hang_seconds: float = 30.0

    # How they run.
    tensorflow_session_config_file: str = ""
    tensorflow_session_parallelism: int = 0
    tensorflow_intra_op_parallelism: int = 0
    tensorflow_inter_op_parallelism: int = 0
    per_process_gpu_memory_fraction: float = 0.0
    #: Ours: names or patterns of models that run as machine code once it is there.
    compile_models: str = ""
    enable_batching: bool = False
    batching_parameters_file: str = ""
    enable_per_model_batching_parameters: bool = False
    enable_serialization_as_tensor_content: bool = False
    enable_signature_method_name_check: bool = False

    # Who may do what.
    ssl_config_file: str = ""
    #: Ours: the keys of which callers need one.
    api_key_file: str = ""
    #: Ours: as `tensorloom server --deny-ops`; and what is allowed all the same.
    deny_ops: str = "safe"
    allow_ops: str = ""
    #: Ours: whether HandleReloadConfigRequest is answered.
    enable_config_reload: bool = True
    #: Ours: limits of one request, and of all at a time.
    max_request_bytes: int = 1 << 30
    max_concurrent_requests: int = 1000
    max_concurrent_requests_per_model: int = 0

    # What is seen of it.
    monitoring_config_file: str = ""
    #: Ours: a file, or "-" for standard error.
    access_log: str = ""
    #: Ours: callers that change the config may have requests logged below it; "": not.
    request_log_directory: str = ""
    #: Ours: whether there is a status page at /.
    enable_status_page: bool = True
