"""`tf.test.Benchmark`: times ops and reports the times in TensorFlow's form.

A program calls `tf.test.main()`; with `--benchmarks=PATTERN` it runs the methods whose
names begin with `benchmark` instead of its tests.
"""

from __future__ import annotations

import inspect
import logging
import numbers
import os
import re
import statistics
import time
from typing import Any, Final

# With this prefix of files in the environment each result is written to a file.
REPORT_PREFIX: Final = "TEST_REPORT_FILE_PREFIX"

_logger = logging.getLogger("tensorloom")
# All that were defined.
classes: list[type[ReportedBenchmark]] = []


def benchmark_config() -> Any:
    """A `tf.ConfigProto` without the dependency optimizer.

    It would find that nothing asks for the value of the op that is timed.
    """
    from tensorloom.protos import config_pb2, rewriter_config_pb2

    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = (
        rewriter_config_pb2.RewriterConfig.OFF
    )
    return config


class ReportedBenchmark:
    """A class whose methods `benchmark...` are run and report what they measured."""

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether it is one of the base classes, which hold no benchmarks."""
        return cls in (ReportedBenchmark, Benchmark)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ != __name__:
            classes.append(cls)

    def _get_name(self, overwrite_name: str | None = None) -> str:
        """Class and method that report, or another name in place of the method."""
        for frame in reversed(inspect.stack()):  # the outermost call of a benchmark
            caller = frame.frame.f_locals.get("self")
            if isinstance(caller, ReportedBenchmark):
                return f"{type(caller).__name__}.{overwrite_name or frame.function}"
        raise ValueError("Unable to determine calling Benchmark class.")

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        """Prints a result, or writes it to a file of `$TEST_REPORT_FILE_PREFIX`.

        Args:
          iters: how often the op was run.
          cpu_time, wall_time: seconds of one run.
          throughput: MB/s.
          extras: further values, numbers or texts.
          name: a name in place of that of the calling method.
          metrics: dicts with "name", "value" and, if wished, "min_value", "max_value".

        Raises:
          TypeError: `extras` is not a dict, or a metric has no name or value.
          OSError: the file exists.
        """
        given = {
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
        }
        entries = _entries(self._get_name(name), given, extras, metrics)
        _write(entries)


class Benchmark(ReportedBenchmark):
    """Times ops in sessions."""

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: dict[Any, Any] | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Times an op in a session, and reports the median.

        Args:
          sess: the session.
          op_or_tensor: what to run.
          feed_dict: fed in each run.
          burn_iters: runs before the timed ones.
          min_iters: timed runs.
          store_trace: makes one run more, whose trace, in Chrome's format, the result
            has under extras["full_trace_chrome_format"].
          store_memory_usage: makes one run more; the largest number of bytes that the
            tensors of each allocator took is added to the extras.
          name: a name in place of that of the calling method.
          extras: further values to report.
          mbs: megabytes that a run moves, from which the throughput is computed.

        Returns:
          What was reported, with the trace.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        extras = {} if extras is None else extras
        traced = {}
        if store_trace or store_memory_usage:
            timeline = _traced(sess, op_or_tensor, feed_dict)
            if store_trace:
                trace = timeline.generate_chrome_trace_format()
                traced["full_trace_chrome_format"] = trace
            if store_memory_usage:
                maximums = timeline.analyze_step_stats().allocator_maximums
                for allocator, largest in maximums.items():
                    key = f"allocator_maximum_num_bytes_{allocator}"
                    extras[key] = largest.num_bytes
        median = statistics.median(times) if times else -1.0
        values: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": median,
            "extras": extras,
            "name": name,
            "throughput": mbs / median,
        }
        self.report_benchmark(**values)
        extras.update(traced)
        return values

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in the default session."""
        from tensorloom.framework.runtime.default_stack import get_default_session

        session = get_default_session()
        if session is None:
            raise ValueError("Benchmark.evaluate needs a default session")
        return session.run(tensors)


def run_benchmarks(pattern: str) -> None:
    """Runs the benchmarks whose `module.Class.method` a pattern finds; "all": all."""
    for cls in classes:
        names = [n for n in dir(cls) if n.startswith("benchmark")]
        chosen = [
            n
            for n in names
            if callable(getattr(cls, n))
            and (
                pattern == "all"
                or re.search(pattern, f"{cls.__module__}.{cls.__name__}.{n}")
            )
        ]
        instance = cls() if chosen else None
        for name in chosen:
            getattr(instance, name)()


def _traced(session: Any, fetches: Any, feeds: dict[Any, Any] | None) -> Any:
    from tensorloom.client.session.timeline import Timeline
    from tensorloom.protos import config_pb2

    options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
    metadata = config_pb2.RunMetadata()
    session.run(fetches, feed_dict=feeds, options=options, run_metadata=metadata)
    return Timeline(metadata.step_stats)


def _entries(
    name: str,
    given: dict[str, float | None],
    extras: dict[str, Any] | None,
    metrics: list[dict[str, Any]] | None,
) -> Any:
    from tensorloom.protos import test_log_pb2

    entries = test_log_pb2.BenchmarkEntries()
    entry = entries.entry.add(name=name)
    for field, number in given.items():
        if number is not None:
            setattr(entry, field, number)
    if extras is not None and not isinstance(extras, dict):
        raise TypeError("extras must be a dict")
    for key, value in (extras or {}).items():
        if isinstance(value, numbers.Real):
            entry.extras[key].double_value = float(value)
        else:
            entry.extras[key].string_value = str(value)
    if metrics is not None and not isinstance(metrics, list):
        raise TypeError("metrics must be a list")
    for metric in metrics or []:
        _add_metric(entry.metrics.add(), metric)
    return entries


def _add_metric(proto: Any, metric: dict[str, Any]) -> None:
    for key in ("name", "value"):
        if key not in metric:
            raise TypeError(f"metric must has a '{key}' field")
        setattr(proto, key, metric[key])
    for key in ("min_value", "max_value"):
        if key in metric:
            getattr(proto, key).value = metric[key]


def _write(entries: Any) -> None:
    from tensorloom.storage.files import filesystem

    entry = entries.entry[0]
    _logger.info("Benchmark [%s] wall_time: %g", entry.name, entry.wall_time)
    prefix = os.environ.get(REPORT_PREFIX)
    if prefix is None:
        print(str(entries))
        return
    path = prefix + entry.name.replace("/", "__")
    if filesystem.exists(path):
        raise OSError(f"File already exists: {path}")
    filesystem.write_file(path, entries.SerializeToString())
