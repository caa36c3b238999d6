"""Files in TensorFlow's formats, on any file system. Knows the framework only.

`filesystem` reads and writes paths of any scheme; `mirror` copies sets of files to a
second place. The other modules are file formats over them: checkpoints and records.
"""

from __future__ import annotations

from tensorloom.storage.files.filesystem import register_filesystem
from tensorloom.storage.files.filesystem_interface import FileSystem
from tensorloom.storage.files.mirror import Mirror
from tensorloom.storage.records.record_file import RecordFile

__all__ = ["FileSystem", "Mirror", "RecordFile", "register_filesystem"]
