"""Specs of CloseSummaryWriter, CreateSummaryDbWriter, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.specs.shared.event_files import (
    FOLDER,
    NUMBERS,
    alone_spec,
    bytes_of,
    closed,
    opened,
)

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _step(d: Draw, p: Program) -> Any:
    return p.const(d.integer(0, 99), "int64")


def _opened_twice(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    return closed(p, writer, folder)


def _never_opened(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer = p.op("SummaryWriter", shared_name=f"writer{next(NUMBERS)}")
    p.run(p.op("FlushSummaryWriter", writer))
    return p


alone_spec(
    "SummaryWriter CreateSummaryFileWriter FlushSummaryWriter CloseSummaryWriter",
    _opened_twice,
    bad=(_never_opened,),
)


def _database(d: Draw) -> Program:
    p = Program(differentiate=False)
    number = next(NUMBERS)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{number}.sqlite"
    path.unlink(missing_ok=True)
    writer = p.op("SummaryWriter", shared_name=f"writer{number}")
    names = [p.const(bytes_of(one)) for one in (f"file:{path}", "e", "r", "u")]
    p.run(p.op(d.op, writer, *names))
    tag, one = p.const(bytes_of("t")), np.float32(1)
    p.run(p.op("WriteScalarSummary", writer, _step(d, p), tag, one))
    p.run(p.op("FlushSummaryWriter", writer))
    return p


alone_spec("CreateSummaryDbWriter", _database)


def _scalar(d: Draw, value: Any = None) -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    value = d.array(()) if value is None else value
    p.run(p.op(d.op, writer, _step(d, p), p.const(bytes_of("t")), p.feed(value)))
    return closed(p, writer, folder)


alone_spec(
    "WriteScalarSummary",
    _scalar,
    types=["float32", "float64", "int32", "int64", "float16", "uint8"],
    mutate=("dtype",),
    bad=(lambda d: _scalar(d, d.array((2,))),),
)


def _histogram(d: Draw, *values: float) -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    given = np.array(values).astype(d.dtype.np_dtype) if values else d.array((3, 2))
    p.run(p.op(d.op, writer, _step(d, p), p.const(bytes_of("t")), p.feed(given)))
    return closed(p, writer, folder)


alone_spec(
    "WriteHistogramSummary",
    _histogram,
    types=["float32", "float64", "int32", "int64", "float16", "uint8"],
    bad=(
        lambda d: _histogram(d, 1.0, float("nan")),
        lambda d: _histogram(d, 1.0, float("inf")),
    ),
)


def _image(d: Draw, *shape: int) -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    pictures = d.array(shape or (2, 4, 5, d.choice([1, 3, 4])), low=0, high=200)
    color = p.const(np.array([255, 0, 0, 255], np.uint8))
    tag = p.const(bytes_of("t"))
    p.run(p.op(d.op, writer, _step(d, p), tag, p.feed(pictures), color, max_images=3))
    return closed(p, writer, folder)


alone_spec(
    "WriteImageSummary",
    _image,
    types=["float32", "uint8", "float16", "float64"],
    bad=(lambda d: _image(d, 4, 5, 3), lambda d: _image(d, 1, 4, 5, 2)),
)


def _audio(d: Draw, rate: Any = 8000.0, shape: tuple[int, ...] = (2, 20, 2)) -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    sound = d.array(shape, dtype="float32", low=-1, high=1)
    tag = p.const(bytes_of("t"))
    p.run(p.op(d.op, writer, _step(d, p), tag, sound, np.float32(rate)))
    return closed(p, writer, folder)


alone_spec(
    "WriteAudioSummary",
    _audio,
    bad=(lambda d: _audio(d, -1.0),),
)


def _tensor(d: Draw, metadata: bytes = b"") -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    texts = p.const(bytes_of("t")), p.const(bytes_of(metadata))
    p.run(p.op(d.op, writer, _step(d, p), p.feed(d.array((2, 3))), *texts))
    return closed(p, writer, folder)


alone_spec(
    "WriteSummary",
    _tensor,
    types=["float32", "int64", "string", "bool"],
    bad=(lambda d: _tensor(d, b"\xff\xff\xff"),),
)


def _message(d: Draw, *parts: bytes) -> Program:
    """A message of the kind that the op takes; nothing is a valid one."""
    p = Program(differentiate=False)
    writer, folder = opened(p)
    content = np.array(parts[0] if len(parts) == 1 else list(parts), object)
    if d.op == "ImportEvent":
        p.run(p.op(d.op, writer, p.feed(content)))
    else:
        p.run(p.op(d.op, writer, _step(d, p), p.feed(content)))
    return closed(p, writer, folder)


def _raw(d: Draw) -> Program:
    return _message(d, b"") if d.op != "WriteRawProtoSummary" else _message(d, b"", b"")


alone_spec(
    "ImportEvent WriteGraphSummary WriteRawProtoSummary",
    _raw,
    bad=(lambda d: _message(d, b"\xff\xff\xff"),),
)
