"""A cluster as a step calls it: by kernels, until there is machine code of it.

Code holds for the shapes that it was compiled for. The first call with others runs as
before, and asks for code (`background.py`); what it took and gave is what the code must
give then, in less time, before any step uses it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.worker.compiled import background
from tensorloom.worker.compiled.request import Request

#: Shapes of one cluster that are compiled; calls with further ones run by kernels.
MOST_SHAPES: Final = 8
# More is not kept for a comparison.
_MOST_KEPT_BYTES: Final = 1 << 30

_Shapes = tuple[tuple[int, ...], ...]
_Code = Callable[[list[Any]], Sequence[Any]]


class Program:
    """One function over tensors. Thread-safe."""

    def __init__(
        self, function: bytes, name: str, dtypes: Sequence[str], what: str
    ) -> None:
        """Makes it, without code.

        Args:
          function: a GraphDef whose library has the function.
          name: of the function.
          dtypes: of its arguments.
          what: what warnings call it.
        """
        self._function, self._name, self._dtypes = function, name, tuple(dtypes)
        self._what = what
        self._codes: dict[_Shapes, _Code] = {}
        self._asked: set[_Shapes] = set()
        self._lock = threading.Lock()

    def run(
        self, by_kernels: Callable[..., Sequence[Any]], *args: Any
    ) -> Sequence[Any]:
        """The results for some tensors.

        Args:
          by_kernels: what gives them without code: (context, tensors) to results.
          args: tensors of a CPU.
        """
        shapes = tuple([arg.shape for arg in args])
        code = self._codes.get(shapes)
        if code is not None:
            # It knows one layout of each tensor.
            return code([a if a.is_contiguous() else a.contiguous() for a in args])
        results = by_kernels(None, *args)
        if shapes not in self._asked:
            self._ask(by_kernels, shapes, args, results)
        return results

    def _ask(
        self,
        by_kernels: Callable[..., Sequence[Any]],
        shapes: _Shapes,
        args: Sequence[Any],
        results: Sequence[Any],
    ) -> None:
        with self._lock:
            if shapes in self._asked or len(self._asked) >= MOST_SHAPES:
                return
            self._asked.add(shapes)
        kept = sum(t.numel() * t.element_size() for t in (*args, *results))
        if kept > _MOST_KEPT_BYTES or not background.can_compile():
            return

        def take(code: _Code) -> None:
            self._codes[shapes] = code

        # What these show may be a variable's own memory.
        inputs = [arg.detach().clone().contiguous() for arg in args]
        outputs = [result.detach().clone() for result in results]
        sizes = tuple(tuple(shape) for shape in shapes)
        request = Request(self._function, self._name, self._dtypes, sizes)

        def kernels() -> object:
            return by_kernels(None, *inputs)

        background.ask(request, inputs, outputs, kernels, take, self._what)
