"""`tf.resource_loader`: files that lie beside a program's sources."""

from __future__ import annotations

import os
import sys

from tensorloom.framework.export import export


def _folder_of_caller() -> str:
    """The folder of the file whose code called a function of this module."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return os.path.dirname(os.path.abspath(frame.f_code.co_filename))


@export("resource_loader.get_data_files_path")
def get_data_files_path() -> str:
    """The folder of the calling file."""
    return _folder_of_caller()


@export("resource_loader.get_path_to_datafile")
def get_path_to_datafile(path: str) -> str:
    """A path below the folder of the calling file."""
    return os.path.join(_folder_of_caller(), path)


@export("resource_loader.get_root_dir_with_all_resources")
def get_root_dir_with_all_resources() -> str:
    """The folder of the calling file: sources lie where they were written."""
    return _folder_of_caller()


@export("resource_loader.load_resource")
def load_resource(path: str) -> bytes:
    """What a file of this package's folder holds.

    Raises:
      OSError: it cannot be read.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, path), "rb") as file:
        return file.read()


@export("resource_loader.readahead_file_path")
def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path as it is: the system reads ahead by itself."""
    return path
