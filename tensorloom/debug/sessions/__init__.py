"""Sessions that a debugger wraps around a `Session`, and hooks that do the same."""
