"""Machine code of loops: numba's, kept on disk. Importing this imports numba.

`machine_form` makes of a loop as it is written what numba compiles: a function whose
globals have the machine forms of other loops. Machine code is kept beside the modules
or, where that cannot be written, in the user's folder for such; which it is hangs on
the arguments, the processor, the sources of this package and numba's version.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numba
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

from tensorloom.kernels.loops.namespaces import Namespaces, TwoForms

# Modules beside this package whose numbers become part of machine code.
_TABLES: Final = ("host/math/glibc_math.py",)
# What of numba's settings changes the machine code.
_SETTINGS: Final = (
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
    "USING_SVML",
)
_DIGEST_BYTES: Final = 32


def machine_form(loop: TwoForms) -> Any:
    """Numba's dispatcher of a loop; the same one each time.

    Raises, when it is called:
      numba.core.errors.TypingError: there is no machine code for such arguments.
    """
    return _MADE.get(loop) or _FORMS.of(loop)


# Of loops whose names all stand for machine forms.
_MADE: Final[dict[TwoForms, Any]] = {}


class _Forms:
    """Makes machine forms, of a loop and all that its module's names stand for.

    Another thread gets none of them before all are there: it would compile a function
    some of whose names are no machine forms yet.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._begun: dict[TwoForms, Any] = {}
        self._depth = 0
        self._globals = Namespaces(self.of)

    def of(self, loop: TwoForms) -> Any:
        """The form of a loop, which may be one of those that are being made."""
        with self._lock:
            self._depth += 1
            try:
                form = _MADE.get(loop) or self._begun.get(loop) or self._made(loop)
                if self._depth == 1:
                    _MADE.update(self._begun)
                return form
            finally:
                self._depth -= 1
                if not self._depth:
                    self._begun.clear()

    def _made(self, loop: TwoForms) -> Any:
        moved = self._globals.moved(loop.function)
        # A loop is one of its module's names.
        if loop not in self._begun:
            self._begun[loop] = _new(loop, moved)
        return self._begun[loop]


_FORMS: Final = _Forms()


def _new(loop: TwoForms, moved: Callable[..., Any]) -> Any:
    options = {"nopython": True, "nogil": loop.nogil, "error_model": "numpy"}
    compiled: Any = _Dispatched(moved, targetoptions=options)
    # It has no place in a read-only installation of a user without a home, or without
    # sources.
    with suppress(RuntimeError, OSError):
        compiled._cache = _Kept(loop.function)
    compiled.loop = loop
    return compiled


@functools.cache
def _sources(folder: Path) -> str:
    """What tells one state of the sources of machine code from another.

    It is what they say: times and sizes are the same in many reproducible builds.

    Raises:
      OSError: there are no files, as in an archive.
    """
    package = Path(__file__).parent
    tables = [Path(__file__).parents[1] / name for name in _TABLES]
    return " ".join(
        hashlib.sha256(file.read_bytes()).hexdigest()
        for file in [*sorted({*package.rglob("*.py"), *folder.glob("*.py")}), *tables]
    )


# Numba has few types.
_config: Any = config
_Dispatcher: Any = CPUDispatcher
_Cache: Any = FunctionCache
_Home: Any = UserWideCacheLocator
_Places: Any = CompileResultCacheImpl


class _Dispatched(_Dispatcher):  # type: ignore[misc]
    """What `numba.njit` makes, but with NUMBA_DISABLE_JIT, too.

    Whoever sets that looks into functions of his own, or measures what his tests reach.
    For arguments without machine code so far, the loop says what serves them.
    """

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        plain = self.loop.until_compiled(args)
        return super()._compile_for_args(*args, **kws) if plain is None else plain

    def compile(self, sig: Any) -> Any:
        with global_compiler_lock:
            disabled, _config.DISABLE_JIT = _config.DISABLE_JIT, 0
            try:
                return super().compile(sig)
            finally:
                _config.DISABLE_JIT = disabled


class _AtHome(_Home):  # type: ignore[misc]
    """The user's folder for such, but none named `~` where nobody knows the home."""

    def ensure_cache_path(self) -> None:
        if not Path(self.get_cache_path()).is_absolute():
            raise FileNotFoundError(self.get_cache_path())
        super().ensure_cache_path()


class _WhereKept(_Places):  # type: ignore[misc]
    _locator_classes = (UserProvidedCacheLocator, InTreeCacheLocator, _AtHome)


class _Kept(_Cache):  # type: ignore[misc]
    """Machine code on disk, which is never worth an error: a full disk, a torn file."""

    _impl_class = _WhereKept

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        sources = _sources(Path(function.__code__.co_filename).parent)
        self._cache_file = _Files(
            Path(self.cache_path),
            self._impl.filename_base,
            _short(f"{numba.__version__} {sources}"),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever numba makes of what is there
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        # Besides a full disk: what an interrupt takes from numba in a callback of LLVM.
        with suppress(Exception):
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Arguments, processor and, unlike numba, the settings of the compiler."""
        settings = [getattr(_config, name) for name in _SETTINGS]
        return super()._index_key(sig, codegen), settings


class _Files:
    """Machine code of one function on disk: a file of its own for all it hangs on.

    Numba numbers its files and says in an index, written first, whose each is: after
    two processes at once, a kill or a full disk, that can be the machine code for other
    arguments, or of other sources.
    """

    def __init__(self, folder: Path, function: str, state: str) -> None:
        self._folder = folder
        self._function = function
        self._state = state

    def load(self, key: object) -> Any:
        """What was saved under the key, or None if it is not whole.

        Raises:
          OSError: nothing was saved.
        """
        content = self._path(key).read_bytes()
        digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return pickle.loads(data) if _digest(data) == digest else None

    def save(self, key: object, code: object) -> None:
        """Keeps the machine code.

        Raises:
          OSError: the disk is full, or such.
        """
        _remove_others(self._folder, self._state)
        data: bytes = dumps(code)  # type: ignore[no-untyped-call]
        path = self._path(key)
        beside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
        try:
            beside.write_bytes(_digest(data) + data)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    def _path(self, key: object) -> Path:
        name = f"{self._function}.{self._state}.{_short(repr(key))}.nbc"
        return self._folder / name


@functools.cache
def _remove_others(folder: Path, state: str) -> None:
    """Removes, once, the machine code of other states: of versions that are gone."""
    for file in folder.glob("*.nb[ci]*"):
        if f".{state}." not in file.name:
            with suppress(OSError):
                file.unlink()


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _short(text: str) -> str:
    """Sixteen letters for a name of a file."""
    return _digest(text.encode()).hex()[:16]
