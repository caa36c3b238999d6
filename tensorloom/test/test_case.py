"""`tf.test.TestCase`: a graph for each test, and sessions that tests share."""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorloom.client.program.version import (
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
)
from tensorloom.client.session.session import Session
from tensorloom.framework import errors
from tensorloom.framework.graph.default_graph import reset_default_graph
from tensorloom.framework.graph.graph import device
from tensorloom.framework.runtime.default_stack import get_default_session
from tensorloom.framework.runtime.random_seed import set_random_seed
from tensorloom.test import environment, temporary_files
from tensorloom.test.array_assertions import ArrayAssertions
from tensorloom.test.checked_thread import CheckedThread
from tensorloom.test.temporary_files import TemporaryDirectory, TemporaryFile

_SEED = 87654321  # TensorFlow's for tests


class TestCase(ArrayAssertions):
    """`unittest.TestCase` for graphs: each test has a fresh default graph and seed."""

    __test__ = False  # the base class itself holds no tests

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._tempdir: str | None = None
        self._cached_session: Session | None = None
        self._cached_graph: Any = None
        self._cached_config: Any = None
        self._cached_force_gpu = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__test__" not in vars(cls):
            cls.__test__ = True

    def setUp(self) -> None:
        """Seeds the generators and empties the default graph."""
        self._ClearCachedSession()
        random.seed(_SEED)
        np.random.seed(_SEED)  # the global generator: what tests use
        reset_default_graph()
        set_random_seed(_SEED)
        self._skip_test_session()

    def tearDown(self) -> None:
        """Closes the shared session.

        Raises:
          AssertionError: a thread of `checkedThread` was not joined.
        """
        for thread in self._threads:
            thread.check_termination()
        self._ClearCachedSession()

    def _ClearCachedSession(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def _skip_test_session(self) -> None:
        """unittest takes the method of that name for a test."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")

    def get_temp_dir(self) -> str:
        """A folder of this test alone; the same at each call."""
        if self._tempdir is None:
            self._tempdir = tempfile.mkdtemp(dir=environment.get_temp_dir())
        return self._tempdir

    def create_tempdir(
        self, name: str | None = None, cleanup: Any = None
    ) -> TemporaryDirectory:
        """A new folder below the test's; removed after the test.

        Args:
          name: how to call it; something unused when None.
          cleanup: ignored: the folder is always removed.
        """
        path = os.path.join(self.get_temp_dir(), name) if name else None
        if path is None:
            path = tempfile.mkdtemp(dir=self.get_temp_dir())
        os.makedirs(path, exist_ok=True)
        self.addCleanup(temporary_files.remove, path)
        return TemporaryDirectory(path)

    def create_tempfile(
        self,
        file_path: str | None = None,
        content: str | bytes | None = None,
        mode: str = "w",
        encoding: str = "utf8",
        errors: str = "strict",
        cleanup: Any = None,
    ) -> TemporaryFile:
        """A new file below the test's folder; removed after the test.

        Args:
          file_path: its path in the folder; something unused when None.
          content, mode, encoding, errors: what is written into it, and how.
          cleanup: ignored: the file is always removed.
        """
        name = file_path or next(tempfile._get_candidate_names())  # type: ignore[attr-defined]
        path = os.path.join(self.get_temp_dir(), name)
        self.addCleanup(temporary_files.remove, path)
        return temporary_files.write_file(path, content, mode, encoding, errors)

    @contextmanager
    def session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A session of its own, as default; on the CPU unless GPUs are asked for."""
        with (
            self._create_session(graph, config, force_gpu) as made,
            _as_default_on(made, use_gpu, force_gpu),
        ):
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
          ValueError: a later block asks for another graph, config or `force_gpu`.
        """
        made = self._get_cached_session(graph, config, force_gpu)
        with _as_default_on(made, use_gpu, force_gpu):
            yield made

    @contextmanager
    def test_session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """`session` for a graph, else the shared session with the config it has."""
        self._skip_test_session()
        if graph is not None:
            with self.session(graph, config, use_gpu, force_gpu) as made:
                yield made
            return
        made = self._get_cached_session(
            graph, config, force_gpu, crash_if_inconsistent_args=False
        )
        with _as_default_on(made, use_gpu, force_gpu):
            yield made

    def _create_session(self, graph: Any, config: Any, force_gpu: bool) -> Session:
        return Session(graph=graph, config=_test_config(config, force_gpu))

    def _get_cached_session(
        self,
        graph: Any = None,
        config: Any = None,
        force_gpu: bool = False,
        crash_if_inconsistent_args: bool = True,
    ) -> Session:
        if self._cached_session is None:
            self._cached_session = self._create_session(graph, config, force_gpu)
            self._cached_graph = graph
            self._cached_config = config
            self._cached_force_gpu = force_gpu
        elif crash_if_inconsistent_args:
            for what, same in (
                ("graph", self._cached_graph is graph),
                ("config", self._cached_config is config),
                ("force_gpu value", self._cached_force_gpu is force_gpu),
            ):
                if not same:
                    raise ValueError(
                        f"The {what} used to get the cached session is different than "
                        f"the one that was used to create the session. Maybe create a "
                        f"new session with self.session()"
                    )
        return self._cached_session

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors in the default or the shared session."""
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as made:
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
        except Exception as error:
            if not isinstance(error, exception_type) or not fits(error):
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

    def assertRaisesRegexp(self, *args: Any, **kwargs: Any) -> Any:
        """`assertRaisesRegex`, by its earlier name."""
        return self.assertRaisesRegex(*args, **kwargs)

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """A thread whose exception its `join` raises."""
        thread = CheckedThread(target, args, kwargs)
        self._threads.append(thread)
        return thread

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """What the block writes to a stream of the process, such as `sys.stderr`."""
        stream.flush()
        descriptor = stream.fileno()
        kept = os.dup(descriptor)
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), descriptor)
            written = CapturedWrites(file, stream)
            try:
                yield written
            finally:
                written.finish()
                os.dup2(kept, descriptor)
                os.close(kept)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Two device names mean the same device."""
        from tensorloom.framework.devices.device_spec import canonical_name

        names = canonical_name(device1), canonical_name(device2)
        self.assertEqual(*names, msg or f"Devices {device1} and {device2} differ")

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: Any = None
    ) -> None:
        """A message equals another, or the text form of one, numbers to six decimals.

        Raises:
          AssertionError: they differ, or they are messages of different types.
        """
        from google.protobuf import text_format

        from tensorloom.protos.pool import ANY_TYPES
        from tensorloom.test.message_comparison import rounded

        expected = expected_message_maybe_ascii
        if isinstance(expected, str | bytes):
            expected = text_format.Merge(
                expected, type(message)(), descriptor_pool=ANY_TYPES
            )
        if _full_name(expected) != _full_name(message):
            raise AssertionError(
                f"Can't compare protos of type {type(expected)} and {type(message)}. "
                f"{msg or ''}"
            )
        if expected != message:
            self.assertMultiLineEqual(
                str(rounded(expected)), str(rounded(message)), msg
            )

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
    """Reads what was written so far; after the block, all that was written in it."""

    def __init__(self, file: Any, stream: Any) -> None:
        self._file, self._stream = file, stream
        self._all: str | None = None

    def finish(self) -> None:
        """Keeps the text: the file is about to be closed."""
        self._all = self.contents()

    def contents(self) -> str:
        """The text written since the block began."""
        if self._all is not None:
            return self._all
        self._stream.flush()
        size = os.fstat(self._file.fileno()).st_size
        return os.pread(self._file.fileno(), size, 0).decode()


@contextmanager
def _as_default_on(session: Session, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
    """Session and graph are the default ones; new nodes are placed as asked for."""
    if force_gpu:
        place = device(environment.gpu_device_name() or "/device:GPU:0")
    else:
        place = device(None if use_gpu else "/device:CPU:0")
    with session.graph.as_default(), session.as_default(), place:
        yield


def _test_config(config: Any, force_gpu: bool) -> Any:
    """The config of a test's session: what is computed is what the test wrote."""
    from tensorloom.protos import config_pb2, rewriter_config_pb2

    result = config_pb2.ConfigProto()
    if config is None:
        result.allow_soft_placement = not force_gpu
    else:
        result.CopyFrom(config)
        if force_gpu:
            result.allow_soft_placement = False
    result.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    rewrites = result.graph_options.rewrite_options
    rewrites.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    rewrites.pin_to_host_optimization = rewriter_config_pb2.RewriterConfig.OFF
    return result


def _full_name(message: Any) -> Any:
    return getattr(getattr(message, "DESCRIPTOR", None), "full_name", type(message))


def _predicate(pattern: Any) -> Callable[[BaseException], bool]:
    if callable(pattern):
        return pattern  # type: ignore[no-any-return]

    def found(error: BaseException) -> bool:
        text = error.message if isinstance(error, errors.OpError) else str(error)
        op = error.op if isinstance(error, errors.OpError) else None
        while op is not None:  # a gradient's op says of which op it is the gradient
            text = f"{text}\nCaused by: {op.name}"
            op = getattr(op, "_original_op", None)
        return re.search(pattern, str(text)) is not None

    return found
