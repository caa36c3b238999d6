"""Metrics for Prometheus: TensorFlow Serving's names, and plain ones beside them.

TensorFlow Serving counts in microseconds and names no version; its names are kept for
dashboards that know them. The plain ones (`tensorloom_serving_...`) follow Prometheus'
conventions: seconds, `_total` for counters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import Metric
from prometheus_client.exposition import generate_latest

from tensorloom.framework import errors
from tensorloom.serving.manager import memory

#: TensorFlow Serving's path.
PATH: Final = "/monitoring/prometheus/metrics"

_SECONDS: Final = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
    *(0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0),
)
_CODES: Final = {
    getattr(errors, name): name
    for name in dir(errors)
    if name.isupper() and type(getattr(errors, name)) is int
}


def code_name(code: int) -> str:
    """TensorFlow's name of a status code: `INVALID_ARGUMENT`."""
    return _CODES.get(code, "UNKNOWN")


def _exponential(scale: float, growth: float, count: int) -> list[float]:
    """The limits of a histogram of TensorFlow's, in six digits as it prints them."""
    limits = [float(f"{scale * growth**i:.6g}") for i in range(count)]
    return [*limits, float("inf")]


_REQUEST_MICROS: Final = _exponential(10, 1.8, 33)
_QUEUE_MICROS: Final = _exponential(100, 1.2, 52)
_SIZES: Final = _exponential(1, 2, 14)
# Each version has a path of its own: a server that runs for long sees any number.
_MOST_PATHS: Final = 1000


class Metrics:
    """All metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._children: dict[tuple[Any, ...], Any] = {}
        self._counts = _ServingCounts()
        # Of versions; those that came last are last.
        self._paths: dict[str, None] = {}
        self._paths_lock = threading.Lock()
        self.registry.register(self._counts)
        self._define_serving_names()
        self._define_plain_names()

    def _define_serving_names(self) -> None:
        serving = ":tensorflow:serving:"
        session = f"{serving}batching_session:"
        self._latency = self._histogram(
            f"{serving}request_latency",
            "Wall time of a request, in microseconds.",
            ("model_name", "API", "entrypoint"),
            _REQUEST_MICROS,
        )
        self._runtime = self._histogram(
            f"{serving}runtime_latency",
            "Wall time of the steps of a request, in microseconds.",
            ("model_name", "API", "runtime"),
            _REQUEST_MICROS,
        )
        self._examples = self._histogram(
            f"{serving}request_example_counts",
            "tf.Examples in a request.",
            ("model",),
            _exponential(1, 2, 15),
        )
        self._warm_up = self._histogram(
            f"{serving}model_warmup_latency",
            "Wall time of a warm-up, in microseconds.",
            ("model_path", "status"),
            _REQUEST_MICROS,
        )
        self._load_latency = self._histogram(
            ":tensorflow:cc:saved_model:load_latency",
            "Wall time of a load, in microseconds.",
            ("model_path",),
            _REQUEST_MICROS,
        )
        self._queuing = self._histogram(
            f"{session}queuing_latency",
            "Time in a queue for batches, in microseconds.",
            ("thread_pool_name",),
            _QUEUE_MICROS,
        )
        self._input_size = self._histogram(
            f"{session}input_batch_size", "Rows of a request.", (), _SIZES
        )
        self._processed_size = self._histogram(
            f"{session}processed_batch_size",
            "Rows of a batch, with padding.",
            (),
            _SIZES,
        )
        self._padding = self._histogram(
            f"{session}padding_size",
            "Rows of padding in a batch.",
            ("execution_batch_size",),
            _SIZES,
        )

    def _define_plain_names(self) -> None:
        plain = "tensorloom_serving_"
        self._requests = Counter(
            f"{plain}requests",
            "Requests, by how they ended.",
            ("model", "method", "entrypoint", "code"),
            registry=self.registry,
        )
        self._seconds = self._histogram(
            f"{plain}request_seconds",
            "Wall time of a request.",
            ("model", "method", "entrypoint"),
            _SECONDS,
        )
        self._step_seconds = self._histogram(
            f"{plain}step_seconds",
            "Wall time of a request's steps, with waiting for a batch.",
            ("model", "method"),
            _SECONDS,
        )
        self._queue_seconds = self._histogram(
            f"{plain}queue_seconds",
            "Time that a request waited for its batch to start.",
            ("model",),
            _SECONDS,
        )
        self._batch_rows = self._histogram(
            f"{plain}batch_rows",
            "Rows of a batch, without padding.",
            ("model",),
            _SIZES[:-1],
        )
        self._batches = Counter(
            f"{plain}batches",
            "Batches, by why they were closed: full, timeout, or the shapes of the "
            "next request did not fit.",
            ("model", "reason"),
            registry=self.registry,
        )
        self._load_seconds = self._histogram(
            f"{plain}load_seconds",
            "Time from the start of a load to the first request, warm-up included.",
            ("model",),
            (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0),
        )
        self._processes = Counter(
            f"{plain}process_ends",
            "Ends of processes of models that were not to end; they are started again.",
            ("model",),
            registry=self.registry,
        )
        Gauge(
            f"{plain}resident_bytes", "Memory of the server.", registry=self.registry
        ).set_function(memory.resident_bytes)

    def _histogram(
        self, name: str, text: str, labels: tuple[str, ...], limits: Iterable[float]
    ) -> Histogram:
        return Histogram(
            name, text, labels, buckets=tuple(limits), registry=self.registry
        )

    def watch(
        self, name: str, text: str, label: str, read: Callable[[], dict[str, float]]
    ) -> None:
        """A gauge that is read when somebody looks: values by the label's."""
        gauge = _Watched(f"tensorloom_serving_{name}", text, label, read)
        self.registry.register(gauge)

    def page(self) -> bytes:
        """What Prometheus reads."""
        return bytes(generate_latest(self.registry))

    def count_of(self, name: str) -> int:
        """A counter of TensorFlow Serving's, by its own name; 0 if there is none.

        As `/tensorflow/serving/request_count`, with the labels that came first.
        """
        return int(self._counts.first(name.replace("/", ":")))

    def _child(self, metric: Any, *labels: str) -> Any:
        """A metric with labels: looked up once."""
        key = (metric, *labels)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = metric.labels(*labels)
        return found

    # --- what is counted -------------------------------------------------------------

    def request(
        self, model: str, api: str, entrypoint: str, code: int, seconds: float
    ) -> None:
        """A request has ended."""
        name = code_name(code)
        self._counts.add("request_count", ("model_name", model), ("status", name))
        self._child(self._requests, model, api, entrypoint, name).inc()
        self._child(self._seconds, model, api, entrypoint).observe(seconds)
        if code == errors.OK:
            self._child(self._latency, model, api, entrypoint).observe(seconds * 1e6)

    def steps(self, model: str, api: str, seconds: float) -> None:
        """The steps of a request have run."""
        self._child(self._runtime, model, api, "TF1").observe(seconds * 1e6)
        self._child(self._step_seconds, model, api).observe(seconds)

    def examples(self, model: str, count: int) -> None:
        """A request had so many examples."""
        self._child(self._examples, model).observe(count)
        self._counts.add("request_example_count_total", ("model", model), by=count)

    def load(self, model: str, path: str, seconds: float | None) -> None:
        """A version was loaded; or could not be: `seconds` is None."""
        self._keep_path(path)
        status = "fail" if seconds is None else "success"
        self._counts.add(
            "load_attempt_count",
            ("model_path", path),
            ("status", status),
            prefix=":tensorflow:cc:saved_model:",
        )
        if seconds is not None:
            self._child(self._load_seconds, model).observe(seconds)
            self._child(self._load_latency, path).observe(seconds * 1e6)

    def warm_up(self, path: str, code: int, seconds: float) -> None:
        """A warm-up has run."""
        self._keep_path(path)
        self._child(self._warm_up, path, code_name(code)).observe(seconds * 1e6)

    def _keep_path(self, path: str) -> None:
        """Keeps the metrics of a path, and forgets those of the oldest."""
        with self._paths_lock:
            self._paths.pop(path, None)
            self._paths[path] = None
            if len(self._paths) <= _MOST_PATHS:
                return
            old = next(iter(self._paths))
            del self._paths[old]
        for metric in (self._load_latency, self._warm_up):
            for key in [k for k in list(self._children) if k[:2] == (metric, old)]:
                metric.remove(*key[1:])
                del self._children[key]
        self._counts.forget(("model_path", old))

    def logged(self, model: str, code: int) -> None:
        """A request was logged, or was to be."""
        labels = ("model_name", model), ("status_code", code_name(code))
        self._counts.add("request_log_count", *labels)

    def process_ended(self, model: str) -> None:
        """The process of a model has ended by itself."""
        self._child(self._processes, model).inc()

    def batched(
        self,
        model: str,
        reason: str,
        rows: list[int],
        waits_s: list[float],
        padding: int,
        pool: str,
    ) -> None:
        """A batch was closed.

        Args:
          model: whose it is.
          reason: why.
          rows: of each request in it.
          waits_s: how long each waited.
          padding: rows that were added.
          pool: the name of the threads that run it.
        """
        total = sum(rows)
        self._counts.add("batching_session:wrapped_run_count")
        self._child(self._batches, model, reason).inc()
        self._child(self._batch_rows, model).observe(total)
        self._processed_size.observe(total + padding)
        self._child(self._padding, str(total + padding)).observe(padding)
        for count, wait_s in zip(rows, waits_s, strict=True):
            self._input_size.observe(count)
            self._child(self._queuing, pool).observe(wait_s * 1e6)
            self._child(self._queue_seconds, model).observe(wait_s)


class _ServingCounts:
    """TensorFlow Serving's counters, whose names have no `_total`."""

    def __init__(self) -> None:
        self._metrics: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}

    def add(
        self,
        name: str,
        *labels: tuple[str, str],
        by: float = 1,
        prefix: str = ":tensorflow:serving:",
    ) -> None:
        values = self._metrics.setdefault(prefix + name, {})
        # Two threads at once may lose one: a lock costs every request more than that
        # is worth, and the plain counters are exact.
        values[labels] = values.get(labels, 0.0) + by

    def forget(self, label: tuple[str, str]) -> None:
        """Drops what was counted with a label."""
        for values in list(self._metrics.values()):
            for labels in [labels for labels in list(values) if label in labels]:
                del values[labels]

    def first(self, name: str) -> float:
        """The value of the labels of a name that came first; 0 if none did."""
        return next(iter(self._metrics.get(name, {}).values()), 0.0)

    def collect(self) -> Iterator[Metric]:
        for name, values in list(self._metrics.items()):
            metric = Metric(name, "As TensorFlow Serving counts.", "unknown")
            for labels, value in list(values.items()):
                metric.add_sample(name, dict(labels), value)
            yield metric


class _Watched:
    def __init__(
        self, name: str, text: str, label: str, read: Callable[[], dict[str, float]]
    ) -> None:
        self._name, self._text, self._label, self._read = name, text, label, read

    def collect(self) -> Iterator[Metric]:
        metric = Metric(self._name, self._text, "gauge")
        for value_of, value in sorted(self._read().items()):
            metric.add_sample(self._name, {self._label: value_of}, value)
        yield metric
