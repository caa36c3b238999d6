"""`tf.test.TestCase`: a graph for each test, and sessions that tests share."""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from tensorloom.client.program.version import (
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
)
from tensorloom.client.session.session import Session
from tensorloom.framework import errors
from tensorloom.framework.graph.default_stack import (
    get_default_session,
    reset_default_graph,
)
from tensorloom.framework.graph.graph import device
from tensorloom.framework.runtime.random_seed import set_random_seed
from tensorloom.test import environment
from tensorloom.test.array_assertions import ArrayAssertions
from tensorloom.test.checked_thread import CheckedThread

_SEED = 87654321  # TensorFlow's for tests


class TestCase(ArrayAssertions):
    """`unittest.TestCase` for graphs: each test has a fresh default graph and seed."""

    __test__ = False  # the base class itself holds no tests
    _cached: Session | None = None
    _cached_arguments: tuple[Any, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def setUp(self) -> None:
        """Seeds the generators and empties the default graph."""
        self._close_cached()
        random.seed(_SEED)
        np.random.seed(_SEED)  # the global generator: what tests use
        reset_default_graph()
        set_random_seed(_SEED)

    def tearDown(self) -> None:
        """Closes the shared session."""
        self._close_cached()

    def _close_cached(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """A folder for files of the tests."""
        return environment.get_temp_dir()

    @contextmanager
    def session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A session of its own, as default; on the CPU unless GPUs are asked for."""
        with Session(graph=graph, config=config) as made, _place(use_gpu, force_gpu):
            yield made

    @contextmanager
    def cached_session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """The session that all blocks of one test share, as default.

        Raises:
          ValueError: a later block asks for another graph, config or device.
        """
        arguments = (graph, config, use_gpu, force_gpu)
        if self._cached is None:
            self._cached = Session(graph=graph, config=config)
            self._cached_arguments = arguments
        elif arguments != self._cached_arguments:
            raise ValueError(
                "The session was made by this test before, with another graph, config "
                "or device; use self.session() for one of its own."
            )
        cached = self._cached
        with cached.graph.as_default(), cached.as_default(), _place(use_gpu, force_gpu):
            yield cached

    def test_session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> AbstractContextManager[Session]:
        """`cached_session` without a graph, else `session`."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")  # the name makes unittest take it for one
        enter = self.cached_session if graph is None else self.session
        return enter(graph, config, use_gpu, force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors in the default or the shared session."""
        session = get_default_session() or self._cached
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as made:
            return made.run(tensors)

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises that exception, with a message that fits.

        Args:
          exception_type: a class or a tuple of them.
          expected_err_re_or_predicate: a pattern to find in the message; or a function
            from the exception to whether it fits.
        """
        fits = _predicate(expected_err_re_or_predicate)
        try:
            yield
        except exception_type as error:
            if not fits(error):
                raise AssertionError(
                    f"Exception of type {type(error)}: {error}"
                ) from error
        else:
            self.fail(f"{exception_type} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """The block raises an `errors.OpError` that fits."""
        return self.assertRaisesWithPredicateMatch(
            errors.OpError, expected_err_re_or_predicate
        )

    def assertItemsEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        """Two iterables hold equal items, in any order: `assertCountEqual`."""
        self.assertCountEqual(first, second, msg)

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """A thread whose exception its `join` raises."""
        return CheckedThread(target, args, kwargs)

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """What the block writes to a stream of the process, such as `sys.stderr`."""
        stream.flush()
        descriptor = stream.fileno()
        kept = os.dup(descriptor)
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), descriptor)
            try:
                yield CapturedWrites(file, stream)
            finally:
                stream.flush()
                os.dup2(kept, descriptor)
                os.close(kept)

    def assertStartsWith(
        self, actual: str, expected_start: str, msg: Any = None
    ) -> None:
        """A text starts so."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}")

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Two device names mean the same device."""
        from tensorloom.framework.devices.device_spec import DeviceSpec

        names = [
            DeviceSpec.from_string(d).to_string() if isinstance(d, str) else d
            for d in (device1, device2)
        ]
        self.assertEqual(names[0], names[1], msg)

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: Any = None
    ) -> None:
        """A proto equals another, or the text form of one."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str | bytes):
            from google.protobuf import text_format

            expected = text_format.Parse(expected, type(message)())
        self.assertEqual(str(expected), str(message), msg)

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int = GRAPH_DEF_VERSION,
        min_consumer: int = GRAPH_DEF_VERSION_MIN_CONSUMER,
        msg: Any = None,
    ) -> None:
        """A GraphDef equals a text form to which the versions are added."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }}"
        self.assertProtoEquals(f"{versions}\n{expected}", actual, msg)


class CapturedWrites:
    """Reads what was written so far."""

    def __init__(self, file: Any, stream: Any) -> None:
        self._file, self._stream = file, stream

    def contents(self) -> str:
        """The text written since the block began."""
        self._stream.flush()
        size = os.fstat(self._file.fileno()).st_size
        return os.pread(self._file.fileno(), size, 0).decode()


def _place(use_gpu: bool, force_gpu: bool) -> Any:
    if force_gpu:
        return device(environment.gpu_device_name() or "/device:GPU:0")
    return device(None if use_gpu else "/device:CPU:0")


def _predicate(pattern: Any) -> Callable[[BaseException], bool]:
    if callable(pattern):
        return pattern  # type: ignore[no-any-return]

    def found(error: BaseException) -> bool:
        text = error.message if isinstance(error, errors.OpError) else str(error)
        return re.search(pattern, str(text)) is not None

    return found
