"""The C API (docs/c-api.md): what libtensorloom.so calls in Python.

`src/` holds the library in C, `include/` its headers. A function in C calls a function
of these modules by name (`src/bridge.h`); each is a section of TensorFlow's header.
"""
