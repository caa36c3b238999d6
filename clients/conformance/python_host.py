"""Runs the suite in C on TensorFlow 1.15, whose C API is inside its Python extension.

Usage, in a Python with TensorFlow 1.15: python python_host.py CONFORMANCE.SO TABLE...
"""

import ctypes
import sys

from tensorflow_core.python import _pywrap_tensorflow_internal as extension


def main(arguments):
    """Makes the extension's symbols known, and calls the main function of the suite."""
    ctypes.CDLL(extension.__file__, ctypes.RTLD_GLOBAL)
    suite = ctypes.CDLL(arguments[0])
    argv = (ctypes.c_char_p * (len(arguments) + 1))(*[a.encode() for a in arguments])
    return suite.main(len(arguments), argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
