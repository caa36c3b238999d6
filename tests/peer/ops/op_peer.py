"""A process of real TensorFlow that answers batches of cases, and survives crashes."""

from __future__ import annotations

import contextlib
import pickle
import queue
import threading
from typing import Any

from tests.peer import runner
from tests.peer.ops import batch_runner
from tests.peer.peers import Peer

BATCH_TIMEOUT_S = 180.0
CASE_TIMEOUT_S = 60.0
Answer = dict[str, Any]


class OpPeer(Peer):
    """One process; `answers` may be asked from any one thread at a time."""

    def __init__(self, version: str) -> None:
        super().__init__(version, batch_runner.__file__)
        self._send({})
        self.op_names = frozenset(self._receive())

    def answers(self, cases: list[dict[str, Any]]) -> list[Answer | None]:
        """What TensorFlow says to each case; None where its process dies or hangs."""
        if not cases:
            return []
        try:
            self._send({"cases": cases, "careful": False})
            found: list[Answer | None] = self._receive()
            return found
        except (RuntimeError, OSError):
            self._restart()
        return self._careful_answers(cases)

    def _careful_answers(self, cases: list[dict[str, Any]]) -> list[Answer | None]:
        answers: list[Answer | None] = []
        while len(answers) < len(cases):
            self._send({"cases": cases[len(answers) :], "careful": True})
            try:
                while len(answers) < len(cases):
                    answers.append(self._receive(CASE_TIMEOUT_S))
            except (RuntimeError, OSError):
                answers.append(None)
                self._restart()
        return answers

    def start(self, cases: list[dict[str, Any]]) -> queue.Queue[Any]:
        """Asks in a thread; the queue gets the answers, or an exception."""
        got: queue.Queue[Any] = queue.Queue()

        def work() -> None:
            try:
                got.put(self.answers(cases))
            except BaseException as error:
                got.put(error)

        threading.Thread(target=work, daemon=True).start()
        return got

    def _send(self, request: dict[str, Any]) -> None:
        data = pickle.dumps(request, protocol=runner.PROTOCOL)
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(runner.HEADER.pack(len(data)) + data)
        stdin.flush()

    def _receive(self, timeout_s: float = BATCH_TIMEOUT_S) -> Any:
        # Some kernels of TensorFlow 1.15 never return from what is invalid.
        watchdog = threading.Timer(timeout_s, self._process.kill)
        watchdog.start()
        try:
            length = runner.HEADER.unpack(self._read(runner.HEADER.size))[0]
            return pickle.loads(self._read(length))
        finally:
            watchdog.cancel()

    def _restart(self) -> None:
        with contextlib.suppress(OSError):
            self.close()
        super().__init__(self.version, batch_runner.__file__)
