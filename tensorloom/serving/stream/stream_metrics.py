"""What Prometheus reads of a stream, beside the server's metrics."""

from __future__ import annotations

from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_PREFIX: Final = "tensorloom_stream_"
_SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class StreamMetrics:
    """The counters of one stream."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Defines them in a registry."""

        def define(kind: Any, name: str, text: str, *labels: str, **more: Any) -> Any:
            return kind(f"{_PREFIX}{name}", text, labels, registry=registry, **more)

        self.messages = define(
            Counter,
            "messages",
            "Messages by what became of them: answered, or dead_letter.",
            "topic",
            "result",
        )
        self.batches = define(
            Histogram, "batch_messages", "Messages of a batch.", buckets=_SIZES
        )
        self.infer_seconds = define(
            Histogram,
            "infer_seconds",
            "Wall time of a batch, from messages to answers.",
            buckets=_SECONDS,
        )
        self.commit_seconds = define(
            Histogram, "commit_seconds", "Wall time of a commit.", buckets=_SECONDS
        )
        self.commits = define(
            Counter, "commits", "Commits: committed, or failed.", "result"
        )
        self.retries = define(
            Counter, "retries", "Batches that were run again, as the model was away."
        )
        self.rebalances = define(
            Counter,
            "rebalances",
            "Changes of this consumer's partitions: assigned, revoked, lost.",
            "kind",
        )
        self.backpressure_seconds = define(
            Counter,
            "backpressure_seconds",
            "Time that nothing was consumed, as the broker took no answers.",
        )
        self.lag = define(
            Gauge,
            "lag",
            "Messages of a partition that are not answered yet.",
            "topic",
            "partition",
        )
        self.partitions = define(Gauge, "partitions", "Partitions of this consumer.")
