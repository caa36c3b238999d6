"""Writers of event files, and the events that the files hold; but for their times."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_FOLDER = Path(tempfile.gettempdir()) / "tensorloom_op_specs_events"
_NUMBERS = process_count()


def _text(value: Any) -> Any:
    return np.array(value if isinstance(value, bytes) else str(value).encode(), object)


def _spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}
    common["canonical"] = _events
    spec(ops, make, alone=True, **{**common, **options})


def _open(p: Program) -> tuple[Node, Path]:
    """A writer of its own, into a folder of its own, opened by the first step."""
    number = next(_NUMBERS)
    folder = _FOLDER / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    writer = p.op("SummaryWriter", shared_name=f"writer{number}")
    settings = [p.const(10, "int32"), p.const(1000, "int32"), p.const(_text(".s"))]
    make = "CreateSummaryFileWriter"
    p.run(p.op(make, writer, p.const(_text(folder)), *settings))
    return writer, folder


def _close(p: Program, writer: Node, folder: Path) -> Program:
    """Closes the files and reads what they hold."""
    p.run(p.op("FlushSummaryWriter", writer))
    p.run(p.op("CloseSummaryWriter", writer))
    files = p.op("MatchingFiles", p.const(_text(folder / "*")))
    records = p.op("TFRecordDataset", files, p.const(_text("")), p.const(0, "int64"))
    many = p.const(50, "int64")
    rows = shaped(["string"], [(None,)])
    batch = p.op("BatchDataset", records, many, **rows)
    p.run(p.op("DatasetToSingleElement", batch, **rows))
    return p


def _pixels(image: Any) -> bytes:
    from PIL import Image

    return Image.open(io.BytesIO(image.encoded_image_string)).tobytes()


def _events(arrays: list[Any]) -> list[Any]:
    """What files hold, without times. Both systems write into one folder, and more
    than once: files that are alike count once."""
    from tensorloom.protos import event_pb2

    files: list[list[bytes]] = []
    for record in arrays[0].tolist() if arrays else []:
        event = event_pb2.Event.FromString(record)
        event.wall_time = 0
        for value in event.summary.value:
            if value.HasField("image"):  # whose compression is another
                value.image.encoded_image_string = _pixels(value.image)
        if event.file_version:
            files.append([])
        files[-1].append(event.SerializeToString(deterministic=True))
    return [np.array([b"|".join(one)], object) for one in files[-1:]] + [
        np.array(len({b"|".join(one) for one in files}))
    ]


def _step(d: Draw, p: Program) -> Any:
    return p.const(d.integer(0, 99), "int64")


def _opened_twice(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer, folder = _open(p)
    return _close(p, writer, folder)


def _never_opened(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer = p.op("SummaryWriter", shared_name=f"writer{next(_NUMBERS)}")
    p.run(p.op("FlushSummaryWriter", writer))
    return p


_spec(
    "SummaryWriter CreateSummaryFileWriter FlushSummaryWriter CloseSummaryWriter",
    _opened_twice,
    bad=(_never_opened,),
)


def _database(d: Draw) -> Program:
    p = Program(differentiate=False)
    number = next(_NUMBERS)
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / f"{number}.sqlite"
    path.unlink(missing_ok=True)
    writer = p.op("SummaryWriter", shared_name=f"writer{number}")
    names = [p.const(_text(one)) for one in (f"file:{path}", "e", "r", "u")]
    p.run(p.op(d.op, writer, *names))
    tag, one = p.const(_text("t")), np.float32(1)
    p.run(p.op("WriteScalarSummary", writer, _step(d, p), tag, one))
    p.run(p.op("FlushSummaryWriter", writer))
    return p


_spec("CreateSummaryDbWriter", _database)


def _scalar(d: Draw, value: Any = None) -> Program:
    p = Program(differentiate=False)
    writer, folder = _open(p)
    value = d.array(()) if value is None else value
    p.run(p.op(d.op, writer, _step(d, p), p.const(_text("t")), p.feed(value)))
    return _close(p, writer, folder)


_spec(
    "WriteScalarSummary",
    _scalar,
    types=["float32", "float64", "int32", "int64", "float16", "uint8"],
    mutate=("dtype",),
    bad=(lambda d: _scalar(d, d.array((2,))),),
)


def _histogram(d: Draw, *values: float) -> Program:
    p = Program(differentiate=False)
    writer, folder = _open(p)
    given = np.array(values).astype(d.dtype.np_dtype) if values else d.array((3, 2))
    p.run(p.op(d.op, writer, _step(d, p), p.const(_text("t")), p.feed(given)))
    return _close(p, writer, folder)


_spec(
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
    writer, folder = _open(p)
    pictures = d.array(shape or (2, 4, 5, d.choice([1, 3, 4])), low=0, high=200)
    color = p.const(np.array([255, 0, 0, 255], np.uint8))
    tag = p.const(_text("t"))
    p.run(p.op(d.op, writer, _step(d, p), tag, p.feed(pictures), color, max_images=3))
    return _close(p, writer, folder)


_spec(
    "WriteImageSummary",
    _image,
    types=["float32", "uint8", "float16", "float64"],
    bad=(lambda d: _image(d, 4, 5, 3), lambda d: _image(d, 1, 4, 5, 2)),
)


def _audio(d: Draw, rate: Any = 8000.0, shape: tuple[int, ...] = (2, 20, 2)) -> Program:
    p = Program(differentiate=False)
    writer, folder = _open(p)
    sound = d.array(shape, dtype="float32", low=-1, high=1)
    tag = p.const(_text("t"))
    p.run(p.op(d.op, writer, _step(d, p), tag, sound, np.float32(rate)))
    return _close(p, writer, folder)


_spec(
    "WriteAudioSummary",
    _audio,
    bad=(lambda d: _audio(d, -1.0),),
)


def _tensor(d: Draw, metadata: bytes = b"") -> Program:
    p = Program(differentiate=False)
    writer, folder = _open(p)
    texts = p.const(_text("t")), p.const(_text(metadata))
    p.run(p.op(d.op, writer, _step(d, p), p.feed(d.array((2, 3))), *texts))
    return _close(p, writer, folder)


_spec(
    "WriteSummary",
    _tensor,
    types=["float32", "int64", "string", "bool"],
    bad=(lambda d: _tensor(d, b"\xff\xff\xff"),),
)


def _message(d: Draw, *parts: bytes) -> Program:
    """A message of the kind that the op takes; nothing is a valid one."""
    p = Program(differentiate=False)
    writer, folder = _open(p)
    content = np.array(parts[0] if len(parts) == 1 else list(parts), object)
    if d.op == "ImportEvent":
        p.run(p.op(d.op, writer, p.feed(content)))
    else:
        p.run(p.op(d.op, writer, _step(d, p), p.feed(content)))
    return _close(p, writer, folder)


def _raw(d: Draw) -> Program:
    return _message(d, b"") if d.op != "WriteRawProtoSummary" else _message(d, b"", b"")


_spec(
    "ImportEvent WriteGraphSummary WriteRawProtoSummary",
    _raw,
    bad=(lambda d: _message(d, b"\xff\xff\xff"),),
)


def _statistics(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer, folder = _open(p)
    handle = p.op("StatsAggregatorHandleV2", shared_name=f"s{next(_NUMBERS)}")
    p.run(p.op(d.op, handle, writer))
    return _close(p, writer, folder)


def _wrong_statistics(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer, folder = _open(p)
    handle = p.op("StatsAggregatorHandle", shared_name=f"s{next(_NUMBERS)}")
    p.run(p.op(d.op, handle, writer))
    return _close(p, writer, folder)


_spec("StatsAggregatorSetSummaryWriter", _statistics, bad=(_wrong_statistics,))
