"""`StreamOptions`: what a stream is told, beside the options of its server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FORMATS: Final = ("json", "example", "tensor", "raw")
AT_LEAST_ONCE: Final = "at-least-once"
EXACTLY_ONCE: Final = "exactly-once"


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """One field for each flag."""

    # Where messages come from, and go.
    bootstrap_servers: str = "localhost:9092"
    input_topics: str = ""
    output_topic: str = ""
    #: Without one, a message that cannot be processed ends the stream.
    dead_letter_topic: str = ""
    group_id: str = "tensorloom"
    kafka_config_file: str = ""

    # What is in them.
    input_format: str = "json"
    output_format: str = "json"
    signature_name: str = ""
    outputs: str = ""

    # How they are put together.
    batch_size: int = 64
    batch_timeout_ms: int = 20
    step_timeout_ms: int = 10_000

    # How sure it is that each is answered, and once.
    delivery: str = AT_LEAST_ONCE
    #: Empty: the group's name and the host's.
    transactional_id: str = ""
    commit_interval_ms: int = 200
    commit_messages: int = 10_000
    retry_seconds: float = 60.0

    def check(self) -> None:
        """Checks what can be wrong of the values.

        Raises:
          ValueError: one is.
        """
        if not self.input_topics or not self.output_topic:
            raise ValueError("Give --input_topics and --output_topic")
        for name in ("input_format", "output_format"):
            if getattr(self, name) not in FORMATS:
                raise ValueError(
                    f"--{name} must be one of {', '.join(FORMATS)}; was "
                    f"{getattr(self, name)!r}"
                )
        if self.delivery not in (AT_LEAST_ONCE, EXACTLY_ONCE):
            raise ValueError(
                f"--delivery must be {AT_LEAST_ONCE} or {EXACTLY_ONCE}; was "
                f"{self.delivery!r}"
            )
        for name in ("batch_size", "commit_messages", "step_timeout_ms"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name} must be positive")
