"""The names that are gone, by module, with what stands in for them.

A replacement is made when a program first asks for the name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Replacement:
    """One name that is gone."""

    gone_since: str  # "NumPy 1.24"
    instead: str  # how a program would write it today
    make: Callable[[], Any]


def _of(path: str) -> Callable[[], Any]:
    """Makes the object of a dotted path."""

    def make() -> Any:
        module, _, name = path.partition(":")
        value: Any = importlib.import_module(module)
        for part in filter(None, name.split(".")):
            value = getattr(value, part)
        return value

    return make


def _same(since: str, module: str, pairs: str) -> dict[str, Replacement]:
    """`old=new` pairs: the new names are in `module`; shown with its name."""
    found = {}
    for pair in pairs.split():
        old, _, new = pair.partition("=")
        new = new or old
        shown = new if module == "builtins" else f"{module}.{new}"
        found[old] = Replacement(since, shown, _of(f"{module}:{new}"))
    return found


def _ours(since: str, module: str, names: str) -> dict[str, Replacement]:
    """Functions of our own in a module of this package."""
    path = f"tensorloom.compat.legacy.{module}"
    return {
        name: Replacement(since, "a function like it", _of(f"{path}:{name}"))
        for name in names.split()
    }


_NUMPY: Final = {
    **_same(
        "NumPy 1.24", "builtins", "int float object str complex long=int unicode=str"
    ),
    **_same(
        "NumPy 2.0",
        "numpy",
        "float_=float64 complex_=complex128 unicode_=str_ string_=bytes_ Inf=inf "
        "Infinity=inf infty=inf PINF=inf NaN=nan alltrue=all sometrue=any "
        "cumproduct=cumprod product=prod row_stack=vstack round_=round mat=asmatrix "
        "singlecomplex=complex64 longfloat=longdouble clongfloat=clongdouble "
        "longcomplex=clongdouble cfloat=complex128 issctype=generic",
    ),
    **_same("NumPy 1.24", "numpy", "bool8=bool int0=intp uint0=uintp void0=void"),
    **_same("NumPy 1.24", "numpy", "str0=str_ object0=object_ bytes0=bytes_"),
    **_same("NumPy 2.4", "numpy", "in1d=isin trapz=trapezoid"),
    "math": Replacement("NumPy 1.25", "the module math", _of("math")),
    **_same("NumPy 1.18", "numpy", "rank=ndim"),
    **_same("NumPy 1.17", "pickle", "loads"),
    **_same("NumPy 1.21", "numpy", "typeDict=sctypeDict"),
    **_ours(
        "NumPy 2.0",
        "numpy_functions",
        "NINF NZERO PZERO asfarray find_common_type cast maximum_sctype obj2sctype "
        "sctype2char sctypes issubsctype issctype recfromcsv recfromtxt safe_eval "
        "msort",
    ),
    **_ours("NumPy 1.23", "numpy_functions", "asscalar"),
    **_ours("NumPy 1.18", "numpy_functions", "alen"),
}
_ABSTRACT = (
    "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable "
    "Iterator Generator Reversible Sized Container Callable Collection Set MutableSet "
    "Mapping MutableMapping MappingView KeysView ItemsView ValuesView Sequence "
    "MutableSequence ByteString"
)
_SCIPY_MISC: Final = {
    **_ours(
        "SciPy 1.3",
        "scipy_misc",
        "imread imsave imresize imrotate imshow toimage fromimage bytescale",
    ),
    **_same(
        "SciPy 1.3", "scipy.special", "logsumexp comb factorial factorial2 factorialk"
    ),
    **_same("SciPy 1.12", "scipy.datasets", "face ascent electrocardiogram"),
    **_ours("SciPy 1.12", "scipy_derivative", "derivative central_diff_weights"),
}

# By module: what it lost.
GONE: Final[dict[str, dict[str, Replacement]]] = {
    "numpy": _NUMPY,
    "numpy.lib": _same("NumPy 2.0", "numpy", "pad"),
    "collections": _same("Python 3.10", "collections.abc", _ABSTRACT),
    "inspect": {
        **_ours("Python 3.11", "python_functions", "getargspec ArgSpec formatargspec"),
    },
    "time": _same("Python 3.8", "time", "clock=perf_counter"),
    "fractions": _same("Python 3.9", "math", "gcd"),
    "base64": _same(
        "Python 3.9", "base64", "encodestring=encodebytes decodestring=decodebytes"
    ),
    "platform": _ours("Python 3.8", "python_functions", "linux_distribution dist"),
    "cgi": _same("Python 3.8", "html", "escape"),
    "os": {"errno": Replacement("Python 3.7", "the module errno", _of("errno"))},
    "string": _same(
        "Python 3.0",
        "string",
        "letters=ascii_letters lowercase=ascii_lowercase uppercase=ascii_uppercase",
    ),
    "itertools": _same("Python 3.0", "builtins", "izip=zip imap=map ifilter=filter")
    | _same("Python 3.0", "itertools", "izip_longest=zip_longest"),
    "scipy.misc": _SCIPY_MISC,
    "scipy.integrate": _same(
        "SciPy 1.14",
        "scipy.integrate",
        "trapz=trapezoid cumtrapz=cumulative_trapezoid simps=simpson",
    ),
    "scipy.stats": _same(
        "SciPy 1.6", "scipy.stats", "frechet_r=weibull_min frechet_l=weibull_max"
    ),
    "PIL.Image": _same(
        "Pillow 10.0",
        "PIL.Image",
        "ANTIALIAS=LANCZOS LINEAR=BILINEAR CUBIC=BICUBIC",
    ),
}

# Functions that are there, but no longer take what they took: by module, the function
# of our own that calls the one that there is.
CHANGED: Final[dict[str, dict[str, str]]] = {
    "numpy": {
        "array": "numpy_functions:array",
        "asarray": "numpy_functions:asarray",
        "asanyarray": "numpy_functions:asanyarray",
        "column_stack": "numpy_functions:column_stack",
        "dstack": "numpy_functions:dstack",
        "fromstring": "numpy_functions:fromstring",
        "hstack": "numpy_functions:hstack",
        "ndim": "numpy_functions:ndim",
        "reshape": "numpy_functions:reshape",
        "percentile": "numpy_functions:percentile",
        "quantile": "numpy_functions:quantile",
        "nanpercentile": "numpy_functions:nanpercentile",
        "nanquantile": "numpy_functions:nanquantile",
        "shape": "numpy_functions:shape",
        "size": "numpy_functions:size",
        "stack": "numpy_functions:stack",
        "sum": "numpy_functions:sum",
        "vstack": "numpy_functions:vstack",
    },
    "json": {"loads": "python_functions:loads", "load": "python_functions:load"},
    "google.protobuf.json_format": {
        "MessageToDict": "python_functions:MessageToDict",
        "MessageToJson": "python_functions:MessageToJson",
    },
    "google.protobuf.text_format": {
        "MessageToString": "protobuf_text:MessageToString",
    },
    "random": {
        "shuffle": "python_functions:shuffle",
        "sample": "python_functions:sample",
    },
}

# Whole modules that are gone, with ours.
MODULES: Final[dict[str, Replacement]] = {
    "imp": Replacement(
        "Python 3.12", "importlib", _of("tensorloom.compat.legacy.imp_module")
    ),
    "six": Replacement(
        "TensorFlow 1, which brought it along",
        "its names for Python 3",
        _of("tensorloom.compat.legacy.six_module"),
    ),
    "six.moves": Replacement(
        "TensorFlow 1, which brought it along",
        "its names for Python 3",
        _of("tensorloom.compat.legacy.six_moves"),
    ),
    "scipy.misc": Replacement(
        "SciPy 2.0", "Pillow", _of("tensorloom.compat.legacy.scipy_misc")
    ),
    "xml.etree.cElementTree": Replacement(
        "Python 3.9", "xml.etree.ElementTree", _of("xml.etree.ElementTree")
    ),
    "distutils": Replacement("Python 3.12", "setuptools", _of("setuptools._distutils")),
    # Private modules whose functions programs took, instead of from the package above.
    "scipy.sparse.linalg.eigen.arpack": Replacement(
        "SciPy 1.8", "scipy.sparse.linalg", _of("scipy.sparse.linalg")
    ),
}
