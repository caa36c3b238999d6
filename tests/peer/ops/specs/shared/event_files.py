"""Parts of specs that several families use: NUMBERS, alone_spec, closed, opened."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.program import Node, Program


FOLDER = Path(tempfile.gettempdir()) / "tensorloom_op_specs_events"


NUMBERS = process_count()


def bytes_of(value: Any) -> Any:
    return np.array(value if isinstance(value, bytes) else str(value).encode(), object)


def alone_spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}
    common["canonical"] = events
    spec(ops, make, alone=True, **{**common, **options})


def opened(p: Program) -> tuple[Node, Path]:
    """A writer of its own, into a folder of its own, opened by the first step."""
    number = next(NUMBERS)
    folder = FOLDER / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    writer = p.op("SummaryWriter", shared_name=f"writer{number}")
    settings = [p.const(10, "int32"), p.const(1000, "int32"), p.const(bytes_of(".s"))]
    make = "CreateSummaryFileWriter"
    p.run(p.op(make, writer, p.const(bytes_of(folder)), *settings))
    return writer, folder


def closed(p: Program, writer: Node, folder: Path) -> Program:
    """Closes the files and reads what they hold."""
    p.run(p.op("FlushSummaryWriter", writer))
    p.run(p.op("CloseSummaryWriter", writer))
    files = p.op("MatchingFiles", p.const(bytes_of(folder / "*")))
    records = p.op("TFRecordDataset", files, p.const(bytes_of("")), p.const(0, "int64"))
    many = p.const(50, "int64")
    rows = shaped(["string"], [(None,)])
    batch = p.op("BatchDataset", records, many, **rows)
    p.run(p.op("DatasetToSingleElement", batch, **rows))
    return p


def pixels(image: Any) -> bytes:
    from PIL import Image

    return Image.open(io.BytesIO(image.encoded_image_string)).tobytes()


def events(arrays: list[Any]) -> list[Any]:
    """What files hold, without times. Both systems write into one folder, and more
    than once: files that are alike count once."""
    from tensorloom.protos import event_pb2

    files: list[list[bytes]] = []
    for record in arrays[0].tolist() if arrays else []:
        event = event_pb2.Event.FromString(record)
        event.wall_time = 0
        for value in event.summary.value:
            if value.HasField("image"):  # whose compression is another
                value.image.encoded_image_string = pixels(value.image)
        if event.file_version:
            files.append([])
        files[-1].append(event.SerializeToString(deterministic=True))
    return [np.array([b"|".join(one)], object) for one in files[-1:]] + [
        np.array(len({b"|".join(one) for one in files}))
    ]
